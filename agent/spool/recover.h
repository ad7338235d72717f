#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/spool/frame_batch.h"
#include "agent/spool/session_log.h"

namespace stepscope {

// What an agent that is no more has left of a session.
struct FoundSession {
  SegmentHead head;
  std::uint64_t acknowledged = 0;    // what need not be sent
  std::vector<SpoolRecord> records;  // from there on, in order and without holes
  std::map<std::uint64_t, Schema> schemas;
  std::vector<FrameContent> parts;  // of frames from number `parts_base` on; schemas as above
  std::uint64_t parts_base = 0;
  bool end_damaged = false;  // something that came behind all this cannot be read
  std::unique_ptr<SessionLog> log;
};

// Reads the folder segment by segment. What is damaged becomes ranges that are lost. Conflict when
// its agent lives, NotFound when nothing can be made of it, Internal when a file cannot be read.
Result<FoundSession> RecoverSession(SpoolFolder& folder, const std::string& name);

// The sessions without an agent, oldest first. Folders with nothing in them are removed.
std::vector<FoundSession> RecoverSessions(SpoolFolder& folder);

}  // namespace stepscope

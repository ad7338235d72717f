#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/spool/frame_batch.h"
#include "agent/spool/session_log.h"

namespace stepscope {

// A session that an ended agent left.
struct FoundSession {
  SegmentHead head;
  std::uint64_t acknowledged = 0;    // these need not be sent
  std::vector<SpoolRecord> records;  // from there on, in order and without gaps
  std::map<std::uint64_t, Schema> schemas;
  std::vector<FrameContent> parts;  // gathered frames' parts, from number `parts_base` on
  std::uint64_t parts_base = 0;
  bool end_damaged = false;  // something behind all this cannot be read
  std::unique_ptr<SessionLog> log;
};

// Reads the folder segment by segment. Damage becomes lost ranges. Conflict when its agent still
// runs, NotFound when it holds no usable record, Internal when a file cannot be read.
Result<FoundSession> RecoverSession(SpoolFolder& folder, const std::string& name);

// The sessions without an agent, oldest first. Empty folders are removed.
std::vector<FoundSession> RecoverSessions(SpoolFolder& folder);

}  // namespace stepscope

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/ingest/group.h"
#include "server/store/frames/streams.h"

namespace stepscope {

// The stream of a push, shared by all items of its session.
struct Stream {
  StreamKey key;
  JobRow* job = nullptr;
  const CheckedPush* push = nullptr;  // its newest push
  std::uint64_t cursor = 0;
  std::int64_t lost = 0, rejected = 0;
  std::int64_t suspect_offset_us = 0;  // as in CheckedPush, over all items
  StreamCursor stored_cursor;
  bool known = true;  // false: a new session of a job that has ended
};
using Streams = std::map<std::pair<std::int64_t, std::string>, Stream>;  // by job and session

// The streams of the items whose jobs exist. `jobs` are these jobs by name.
Result<Streams> FindStreams(Connection& connection, std::map<std::string, JobRow>& jobs,
                            const std::vector<GroupItem>& items);

// Makes those nodes and streams that are new. Only before any stream is locked.
Status MakeStreams(Connection& connection, Streams& streams, std::int64_t now_us);

// Marks the nodes as seen, and locks the streams and reads their cursors. False when a node or a
// stream is new; the transaction then has to be rolled back, since it holds locks already.
Result<bool> TakeStreams(Connection& connection, Streams& streams, std::int64_t now_us);

}  // namespace stepscope

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/ingest/check/checked_push.h"
#include "server/store/annotations/span_blocks.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// The windows whose spans a transaction brings, and the spans: each window is looked up once, and
// knows how many it has.
class SpanQuota {
 public:
  // Why a table is not stored; "" where it is, and for tables of other kinds. Spans must be of a
  // window that was asked for and of its steps, and no more than a window may have.
  Result<std::string> Take(Connection& connection, std::int64_t job_id, const TableFrame& table);

  // The rows of a table that was taken.
  void Add(const NewSpanBlock& block) { blocks_.push_back(block); }

  // Writes the added rows, and counts the spans taken, always in the same order of windows.
  Status Save(Connection& connection) const;

 private:
  struct Room {
    std::string fault;  // for every table; "" where there is such a window
    std::int64_t start_step = 0, end_step = 0, stored = 0, taken = 0;
  };
  using Key = std::pair<std::int64_t, std::int64_t>;  // job and window
  Result<Room*> Find(Connection& connection, const Key& key);

  std::map<Key, Room> rooms_;
  std::vector<NewSpanBlock> blocks_;
};

}  // namespace stepscope

#pragma once

#include <utility>
#include <vector>

#include "server/store/rollups/job_rollups.h"
#include "server/store/rollups/rollups.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {

// Collects the rows that the store gives one by one.

template <typename Row, typename Query, typename ForEach>
Result<std::vector<Row>> ListOf(Connection& connection, const Query& query, ForEach for_each) {
  std::vector<Row> all;
  const Status read = for_each(connection, query, [&](Row row) {
    all.push_back(std::move(row));
    return Status();
  });
  if (!read) return read.error();
  return all;
}

inline auto LoadRollups(Connection& connection, const RollupQuery& query) {
  return ListOf<NodeRollup>(connection, query, ForEachRollup);
}
inline auto LoadJobRollups(Connection& connection, const RollupQuery& query) {
  return ListOf<FoldedRollup>(connection, query, ForEachJobRollup);
}
inline auto ReadFreshTicks(Connection& connection, const TickQuery& query) {
  return ListOf<NodeTicks>(connection, query, ForEachFreshNode);
}

}  // namespace stepscope

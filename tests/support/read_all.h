#pragma once

#include <utility>
#include <vector>

#include "server/store/job_rollups.h"
#include "server/store/rollups.h"
#include "server/store/series.h"

namespace stepscope {

// What the store gives one by one, as a list.

inline Result<std::vector<NodeRollup>> LoadRollups(Connection& connection,
                                                   const RollupQuery& query) {
  std::vector<NodeRollup> all;
  const Status read = ForEachRollup(connection, query, [&](NodeRollup rollup) {
    all.push_back(std::move(rollup));
    return Status();
  });
  if (!read) return read.error();
  return all;
}

inline Result<std::vector<FoldedRollup>> LoadJobRollups(Connection& connection,
                                                        const RollupQuery& query) {
  std::vector<FoldedRollup> all;
  const Status read = ForEachJobRollup(connection, query, [&](FoldedRollup rollup) {
    all.push_back(std::move(rollup));
    return Status();
  });
  if (!read) return read.error();
  return all;
}

inline Result<std::vector<NodeTicks>> ReadFreshTicks(Connection& connection,
                                                     const TickQuery& query) {
  std::vector<NodeTicks> all;
  const Status read = ForEachFreshNode(connection, query, [&](NodeTicks ticks) {
    all.push_back(std::move(ticks));
    return Status();
  });
  if (!read) return read.error();
  return all;
}

}  // namespace stepscope

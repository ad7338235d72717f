#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// A metric of a node is compacted without rollups where it has too many devices for a row of them.
struct UnrolledQuery {
  std::int64_t job_id = 0;
  std::vector<std::int64_t> node_ids;
  std::string metric;
  std::int64_t from_us = 0, until_us = INT64_MAX;
  std::int64_t bin_us = 0;  // a level's
};
// Whether one of the nodes has samples without rollups in the last block window of the range, for a
// reader of rollups that found nothing. Two or three searches of an index for each node.
Result<bool> HasRollupGap(Connection& connection, const UnrolledQuery& query);

}  // namespace stepscope

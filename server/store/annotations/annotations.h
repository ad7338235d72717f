#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// Statistics of annotations over the whole job, of each of these ranks that has some. They are
// added up, so call it in a snapshot: each push is in a frame or in a block there.
struct AnnotationRow {
  std::string name;
  std::int64_t count = 0, sum_ns = 0, min_ns = 0, max_ns = 0;
  std::map<int, std::int64_t> bins;  // the number of durations in each bin (core/model/span_bins.h)
};
Result<std::map<int, std::vector<AnnotationRow>>> ReadAnnotations(Connection&, std::int64_t job_id,
                                                                  std::span<const int> ranks);

}  // namespace stepscope

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/model/table.h"
#include "server/ingest/check/checked_push.h"

namespace stepscope {

// The most that one body may hold: as much as the frames of one push.
inline constexpr std::size_t kMostSampleTimes = kMaxFramesPerPush * kMaxRowsPerFrame;

// Samples of one node as anyone sends them: any order, an instant perhaps twice.
struct Samples {
  struct Series {
    SeriesName name;
    std::vector<double> values;         // one for each time; 0 where missing
    std::vector<std::uint8_t> present;  // 1 or 0 for each time
    int decimals = 0;                   // the most that any value is written with
  };
  std::string node;
  std::vector<std::int64_t> times_us;
  std::vector<Series> series;
};

// The fault of a body, and where it is.
struct SampleFault {
  std::string code;     // "invalid-body" or "unknown-metric"
  std::string pointer;  // JSON pointer; "" for the whole
  std::string detail;
};

}  // namespace stepscope

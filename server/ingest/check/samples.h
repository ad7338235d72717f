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
    int decimals = 0;                   // the most that one of them is written with
  };
  std::string node;
  std::vector<std::int64_t> times_us;
  std::vector<Series> series;
};

// What is wrong with a body, and where.
struct SampleFault {
  std::string code;     // "invalid-body" or "unknown-metric"
  std::string pointer;  // JSON pointer; "" for the whole
  std::string detail;
};

// What would find no room in blocks if it went on like this (density.h): ReadSamples asks.
std::optional<SampleFault> CheckDensity(const Samples& samples);

// Reads {node, times_us[], series[{metric, device, values[]}]} in one pass; nothing is built but
// the columns. Everything that CheckTable asks of ticks holds for what is given.
std::variant<Samples, SampleFault> ReadSamples(std::string_view body);

// As frames without numbers: sorted, each instant once, of several values of a series at one
// instant the first; instants without any value are left out. Series stand in the order of their
// names.
std::vector<CheckedFrame> ToFrames(const Samples& samples);

}  // namespace stepscope

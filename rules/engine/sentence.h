#pragma once

#include <cstdint>
#include <string>

#include "core/base/time.h"

namespace stepscope {

// 28766 -> "28,766".
std::string Grouped(std::int64_t number);

// A count of ticks and its time, "500 samples (250 s)"; the time of several nodes adds up, "500
// samples (250 s of 2 nodes together)".
std::string SamplesText(std::int64_t samples, Duration interval, std::size_t nodes = 1);

// A length of data time for a sentence: "40 s", "12 min", "3.5 h".
std::string LengthText(Duration length);

// The length of a step or of a part of it: "180 us", "41.2 ms", "2.31 s".
std::string StepText(Duration length);

// 1 -> "1st", 12 -> "12th".
std::string OrdinalText(std::int64_t number);

// 1 -> "1 GPU", 8 -> "8 GPUs".
std::string CountText(std::int64_t count, const std::string& what);

}  // namespace stepscope

#pragma once

// What the time of a training went to.

#include <array>
#include <cstddef>
#include <string_view>

namespace stepscope {

// Busy time, and the causes of lost time; from kRawInput to kStorage in the order of the stages
// that a batch passes.
enum class Cause {
  kBusy,
  kRawInput,
  kPreprocessing,
  kToDevice,
  kFrameworkOverhead,
  kUnderUse,
  kCommunication,
  kLateRank,
  kFromDevice,
  kSynchronisation,
  kCallbacks,
  kStorage,
  kEvaluation,
  kThrottled,
  kOnCpu,
  kUnknown,
};
inline constexpr std::size_t kCauses = 16;

// The names of a cause, and the advice for it.
struct CauseText {
  std::string_view name;     // in the API: "raw_data_input"
  std::string_view words;    // in a sentence: "raw data input"
  int stage;                 // 1 to 8 of the stages of a step; 0 for none
  std::string_view suspect;  // "data pipeline", "model", "communication", "framework overhead"; ""
  std::string_view advice;   // "" where there is nothing to do
  std::string_view rules;    // names of rules whose findings support the cause, by ','
};
const CauseText& TextOf(Cause cause);

// Amounts of time by cause, in seconds of GPUs, or of ranks where there is no GPU.
struct TimeByCause {
  std::array<double, kCauses> seconds{};

  double& operator[](Cause cause) { return seconds[static_cast<std::size_t>(cause)]; }
  double operator[](Cause cause) const { return seconds[static_cast<std::size_t>(cause)]; }
  double Total() const;
  void Add(const TimeByCause& other);
  TimeByCause Scaled(double factor) const;

  template <typename State>
  void Fields(State& state) {
    for (std::size_t i = 0; i < kCauses; ++i) {
      state(TextOf(static_cast<Cause>(i)).name, seconds[i]);
    }
  }
};

}  // namespace stepscope

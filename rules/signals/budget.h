#pragma once

// The time of a job, divided by cause: a budget that adds up to all of it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "rules/signals/step_sums.h"

namespace stepscope {

// Busy time, and the causes of lost time; from kRawInput to kStorage in the order of the stages
// that a batch passes.
enum class Cause {
  kBusy,
  kInitialisation,
  kRawInput,
  kPreprocessing,
  kToDevice,
  kFrameworkOverhead,
  kUnderUse,
  kCommunication,
  kFromDevice,
  kCallbacks,
  kStorage,
  kUnknown,
};
inline constexpr std::size_t kCauses = 12;

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

// The advice for a cause, for a job whose steps report their phases or not.
std::string_view AdviceOf(Cause cause, bool steps_told);

// Amounts of time by cause, in seconds of GPUs, or of ranks where there is no GPU.
struct TimeByCause {
  std::array<double, kCauses> seconds{};

  double& operator[](Cause cause) { return seconds[static_cast<std::size_t>(cause)]; }
  double operator[](Cause cause) const { return seconds[static_cast<std::size_t>(cause)]; }
  double Total() const;
  void Add(const TimeByCause& other);

  template <typename State>
  void Fields(State& state) {
    for (std::size_t i = 0; i < kCauses; ++i) {
      state(TextOf(static_cast<Cause>(i)).name, seconds[i]);
    }
  }
};

// Sums over the ticks of a node once its training had begun: GPU-seconds in which the GPUs were
// busy, and GPU-seconds in which they idled, by the cause that the host showed in the same ticks.
// `host` counts ticks by the cause that the host showed, whether the GPUs idled or not.
struct HostSums {
  double busy = 0;
  TimeByCause idle, host;

  template <typename State>
  void Fields(State& state) {
    state("busy", busy);
    state("idle", idle);
    state("host", host);
  }
};

// The steps of the ranks of a node.
struct RankSums {
  StepSums steps;
  std::size_t ranks = 0;
};

// The budget of a node with GPUs. Busy time is as measured; idle time goes to the phases in which
// steps stalled, as far as it reaches. The remainder counts first as time outside of steps, then as
// time in steps (the GPUs idled while the model computed); both go to the causes that the host
// showed. The budget adds up to busy + idle.
TimeByCause GpuBudget(const HostSums& host, const RankSums& ranks);

// The budget of the step time of a node without GPUs; it adds up to the wall time of the steps.
// Time outside of all phases counts as computing where the job reports its waits for data; else it
// is unknown.
TimeByCause StepBudget(const HostSums& host, const StepSums& steps, bool tells_of_waits);

}  // namespace stepscope

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/model/step.h"

namespace stepscope {

// The total time of steps, and of each of their phases. Whole nanoseconds, so that the order of
// adding never matters; a phase counts at most as much as its step, and sums stop at their end.
class StepSums {
 public:
  void Add(const Step& step);
  void Add(const StepSums& other);

  std::int64_t steps() const { return static_cast<std::int64_t>(steps_); }
  Duration wall() const { return Duration(static_cast<std::int64_t>(wall_ns_)); }
  Duration phase(Phase which) const;
  // The time of evaluations, which is not part of wall().
  Duration evaluation() const { return Duration(static_cast<std::int64_t>(evaluation_ns_)); }
  // Seconds that any phase names, and those in which the steps computed their model (forward, loss,
  // backward, optimizer).
  double NamedSeconds() const;
  double ComputingSeconds() const;
  // The mean length of a step; zero without steps.
  Duration MeanWall() const { return Mean(wall_ns_); }
  Duration MeanPhase(Phase which) const;
  // Part of the step time that went into the phase, 0 to 1.
  double Share(Phase which) const;

  std::string Save() const;
  Status Load(std::string_view packed);

 private:
  Duration Mean(std::uint64_t sum_ns) const;

  std::uint64_t steps_ = 0, wall_ns_ = 0, evaluation_ns_ = 0;
  std::array<std::uint64_t, kPhaseCount> phase_ns_{};
};

// The phase that makes a step of `longer` longer than a step of `usual`: "mostly data (+12.0 ms of
// a step)". Time that no phase names is "time outside of all phases".
std::string WhatGrew(const StepSums& longer, const StepSums& usual);

// The phases that took time, by name, in seconds.
Json PhaseSeconds(const StepSums& sums);

}  // namespace stepscope

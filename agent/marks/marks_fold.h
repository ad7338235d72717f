#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/time.h"
#include "core/model/step.h"
#include "core/wire/mark.h"

namespace stepscope {

// Count, sum, least and greatest duration of an annotation's spans in one bin.
struct AnnotationSums {
  Time from{}, to{};
  std::int64_t count = 0;
  Duration sum{}, least{}, most{};

  void Add(Time start, Duration duration);
  void Add(const AnnotationSums& other);
};

// The wall time of a mark; nothing outside the years 2000 to 2100, which only a faulty process
// sends.
std::optional<Time> WallTime(const Mark& mark, Duration clock_base);

// Folds the phases and step ends of one ring, in the order in which they ended, into steps. A phase
// counts to the step in which it ends, without its part before that step and without the phases
// inside it, so the phases of a step never add up to more than its wall time. A step with unknown
// phases, because marks were dropped or another agent has read them, is discarded.
class StepFold {
 public:
  explicit StepFold(bool cut) : cut_(cut) {}

  // Marks were lost before the next one: the open step and phases are incomplete.
  void Cut() { cut_ = true; }
  void AddPhase(const Mark& mark);
  // An evaluation, or a part of one, that interrupts the open step.
  void AddEvaluation(Duration length);
  // The step that ends, which is good until the next call; null for one that is discarded.
  const Step* End(const Mark& mark, Duration clock_base);

  // The number of steps that were discarded, since their phases or times are not known.
  std::int64_t lost() const { return lost_; }

 private:
  struct Span {
    std::uint64_t start_ns;
    Duration length;
  };
  Duration TakeInside(std::uint64_t start_ns);
  // Cuts the phases of the step that ended where they are longer than it.
  void Fit();

  std::array<Duration, kPhaseCount> phases_{};  // phases of the open step
  bool any_phase_ = false;                      // whether the open step has some
  Duration evaluation_{};
  Step ended_;  // the newest one
  bool ended_has_phases_ = false;
  std::vector<Span> seen_;         // spans of this step that no other one encloses yet
  std::uint64_t boundary_ns_ = 0;  // end of the previous step
  bool cut_ = false;
  std::int64_t lost_ = 0;
};

}  // namespace stepscope

#pragma once

// The sentence and the evidence that say where the time of a job went.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/time.h"
#include "rules/diagnosis/causes.h"
#include "rules/diagnosis/window_evidence.h"
#include "rules/signals/step_sums.h"

namespace stepscope {

// The phases of a job, one after the other; evaluations lie within its training.
struct JobParts {
  Duration initialisation{}, training{}, evaluation{}, finalisation{};
};

inline constexpr double kLeastDivided = 10;  // seconds

// What is known of a job's time.
struct Diagnosis {
  TimeByCause budget;  // the time of the training and of its evaluations
  bool gpus = false;   // the time is of GPUs, not of steps
  bool gpu_clock = false;
  StepSums steps;  // all ranks together
  std::size_t ranks = 0, nodes = 0;
  JobParts parts;
  std::vector<std::string> missing;  // what is not seen, a sentence each
  bool in_part = false;              // see AreStepsSeenInPart
  std::string late;                  // who is late, and with what; "" for nobody
  WindowEvidence windows;
  bool of_windows = false;  // nothing but windows is known: the time is theirs

  double threshold = 10;  // % of the time from which a cause is named
  double price = 0;       // an hour of one GPU costs so much; 0: not told
  // The part of the cores that the job may use which worked; 0 where that is not known.
  double cores_busy = 0;

  // Whether there is enough time to divide: few seconds of a job say little, those of its windows
  // were chosen to say much.
  bool IsEnough() const;
  // The causes that took time, the largest first.
  std::vector<Cause> Ranked() const;
  // The largest cause that is named and can be acted on; time that nothing explains may be no loss.
  std::optional<Cause> Bottleneck() const;
  std::string Sentence() const;
  Json Evidence() const;

 private:
  std::string_view Confidence() const;
  double Percent(Cause cause) const;
  std::string Named(Cause cause) const;
  std::string_view Words(Cause cause) const;
  std::string Remarks() const;
  std::string WaitsThatCostNothing() const;
  std::string NotCounted() const;
  double NamedShare() const;
  std::string_view Advice(Cause cause) const;
  void AddGain(Cause cause, Json& row) const;
  Json Row(Cause cause) const;
};

}  // namespace stepscope

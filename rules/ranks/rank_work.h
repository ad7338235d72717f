#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"
#include "rules/engine/state.h"
#include "rules/signals/step_sums.h"

namespace stepscope {

// Time of a rank's steps, by what it proves about who waits for whom, and the use of its training
// thread. Sums of whole numbers, so that the order of adding never matters.
struct WorkSums {
  std::uint64_t steps = 0, wall_us = 0;  // with evaluations
  // In what a rank does without waiting for another one: data, callbacks, checkpoints, evaluations.
  std::uint64_t own_us = 0;
  // In collectives that the training thread called itself.
  std::uint64_t called_us = 0;
  // In forward, loss and backward, and in waits for the GPU: own work and waits for other ranks.
  std::uint64_t mixed_us = 0;
  // Time in which the GPU had nothing to do before a step's work came, by its own clock, and the
  // steps of which that is known.
  std::uint64_t dry_us = 0, dry_steps = 0;
  // CPU time of the training thread, in 1/100 % of a core, summed over samples.
  std::uint64_t thread = 0, samples = 0;

  void Add(const WorkSums& other);
  // Adds the steps; not the samples.
  void Add(const StepSums& sums);

  // Parts of the step time, 0 to 1; of a rank with steps.
  double Own() const { return PartOf(own_us); }
  double Called() const { return PartOf(called_us); }
  double Mixed() const { return PartOf(mixed_us); }
  // The remainder, where the thread may work, or wait in a call that nobody watches.
  double Loose() const { return 1 - Own() - Called() - Mixed(); }
  // Part of the step time in which the GPU had nothing to do, by the steps of which it is known; of
  // a rank whose GPU's clock is known.
  double Dry() const;
  // Part of the time in which the thread ran, 0 to 1; of a rank with samples.
  double Thread() const;

 private:
  double PartOf(std::uint64_t part_us) const;
};

// The work of one rank over the job: sums of everything, and the course over at most kMostBins bins
// of equal length. Bins are multiples of a power of two of kBin, and are doubled for all ranks at
// once.
class RankWork {
 public:
  static constexpr Duration kBin = 2s;
  static constexpr std::int64_t kMostBins = 24;
  using Bins = std::map<std::int64_t, WorkSums, std::less<>>;

  // The bin of length kBin that a time is in, and the begin of one of length kBin << doubled.
  static std::int64_t BinOf(Time at);
  static Time BeginOf(std::int64_t bin, std::int64_t doubled);

  // Adds what a bin held: steps, and samples of the thread and the GPU.
  void Add(std::int64_t bin, const StepSums& steps, const WorkSums& samples);
  // Makes bins twice as long.
  void Double();
  // What comes next is newer than all before.
  void BeginScan() { begins_ = true; }

  const Bins& bins() const { return bins_; }
  const StepSums& steps() const { return steps_; }
  // Step time that was added since the newest scan began.
  Duration Fresh() const {
    return begins_ ? Duration() : static_cast<std::int64_t>(fresh_.wall_us) * 1us;
  }
  // The newest two scans that added something, together.
  WorkSums Recent() const;

  std::string Save() const;
  Status Load(std::string_view packed);

 private:
  StepSums steps_;
  WorkSums fresh_, before_;  // what the newest scan added that added something, and the one before
  bool begins_ = false;      // only while a scan is made
  Bins bins_;
};

}  // namespace stepscope

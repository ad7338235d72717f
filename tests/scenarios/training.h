#pragma once

// Whole jobs whose machines follow their steps: what a GPU, a core or a disk shows in a tick is
// made of the phases that the ranks passed in it. The same seed gives the same job.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/scenarios/scenario.h"

namespace stepscope::scenarios {

// A value of a series that is being made.
struct Moment {
  std::size_t node = 0, device = 0;  // by number; for a rank the device is its number on the node
  Duration at{};                     // since the first tick of the job
};

// A metric of every node: `level` +- `noise`; while the rank of the device is in one of the phases
// `in`, it is `there`. Of a tick that saw both, it is the mean. A core, disk or interface goes by
// all ranks of its node.
struct Sign {
  std::string_view metric;
  double level = 0, noise = 0;
  std::vector<Phase> in = {};
  double there = 0;
  std::string device = {};  // the only one; all of the metric's kind when empty
  // The last word; none is a sample that no collector gave.
  std::function<std::optional<double>(double value, const Moment& moment)> change = {};
};

// What computes: GPUs are busy in these phases.
inline const std::vector<Phase> kCompute = {Phase::kForward, Phase::kLoss, Phase::kBackward,
                                            Phase::kOptimizer};

// The steps of every rank.
struct Loop {
  std::size_t ranks = 1;   // of each node; with none no process tells of itself
  Duration connects = 3s;  // when the processes connect, after the job's first tick
  Duration start = 15s;    // when the first step begins, likewise
  Duration wall = 200ms;
  // In percent of the wall time. What is left over is divided among kCompute.
  std::vector<std::pair<Phase, double>> shares = {};
  double noise = 2;  // percent of each phase, and of the wall time
  // The last word on a step; what it adds to a phase it adds to the wall time, too.
  std::function<void(Step& step, int rank)> change = {};
  // What the processes tell of themselves, such as {"loader_num_workers", "4"}.
  std::map<std::string, std::string> facts = {};
};

enum class OutageKind {
  kNoSamples,  // nothing was sampled; steps are told
  kRestart,    // the job was killed and started again: new agents and processes, older steps
  kSilence,    // nobody hears from the node any more
};

// What went wrong on a node, or on all, in [from, to).
struct Outage {
  static constexpr std::size_t kAllNodes = SIZE_MAX;

  OutageKind kind = OutageKind::kNoSamples;
  Duration from{}, to = std::chrono::hours(24 * 365);
  std::size_t node = kAllNodes;

  bool Covers(std::size_t which, Duration at) const {
    return (node == kAllNodes || node == which) && at >= from && at < to;
  }
};

struct Training {
  std::uint64_t seed = 1;
  std::size_t nodes = 1, gpus = 1, cores = 8;  // GPUs and cores of each node
  Duration interval = 500ms, length = 7min;
  Loop loop;
  std::vector<Sign> signs;  // a later one replaces what an earlier one said of the same series
  std::vector<Outage> outages;
  std::map<std::size_t, Duration> clock_ahead;  // how far a node's clock is ahead of the service's
  int exit_code = 0;

  // The outage of this kind in which a node is at a time; null for none.
  const Outage* OutageAt(OutageKind kind, std::size_t node, Duration at) const;
  Duration ClockAhead(std::size_t node) const;
};

// `origin`: the first tick.
Job MakeJob(const Training& training, Time origin);

}  // namespace stepscope::scenarios

#pragma once

// Whole jobs whose machines follow their steps: the value of a GPU, a core or a disk in a tick is
// made of the phases that the ranks passed in it. Equal seeds give equal jobs.

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
// `in`, it is `there`. A tick that covers both has the mean. A core, disk or interface follows all
// ranks of its node.
struct Sign {
  std::string_view metric;
  double level = 0, noise = 0;
  std::vector<Phase> in = {};
  double there = 0;
  std::string device = {};  // the only device; all of the metric's kind when empty
  // Changes the value at last; none stands for a sample that no collector gave.
  std::function<std::optional<double>(double value, const Moment& moment)> change = {};
};

// The computing phases: GPUs are busy in them.
inline const std::vector<Phase> kCompute = {Phase::kForward, Phase::kLoss, Phase::kBackward,
                                            Phase::kOptimizer};

// The steps of every rank.
struct Loop {
  std::size_t ranks = 1;   // ranks of each node; with none no process connects
  Duration connects = 3s;  // when the processes connect, after the job's first tick
  Duration start = 15s;    // start of the first step
  Duration wall = 200ms;
  // Phases in percent of the wall time. The remainder is divided among kCompute.
  std::vector<std::pair<Phase, double>> shares = {};
  double noise = 2;  // percent of each phase, and of the wall time
  // Changes a step at last; time that it adds to a phase is added to the wall time, too.
  std::function<void(Step& step, int rank)> change = {};
  // Settings that the processes report, such as {"loader_num_workers", "4"}.
  std::map<std::string, std::string> facts = {};
};

enum class OutageKind {
  kNoSamples,  // nothing was sampled; steps are reported
  kRestart,    // the job was killed and started again: new agents and processes, older steps
  kSilence,    // the node sends nothing any more
};

// A failure of a node, or of all nodes, in [from, to).
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
  std::vector<Sign> signs;  // a later sign replaces an earlier one of the same series
  std::vector<Outage> outages;
  std::map<std::size_t, Duration>
      clock_ahead;  // how far a node's clock is ahead; all its times are later by as much
  int exit_code = 0;

  // The outage of this kind in which a node is at a time; null for none.
  const Outage* OutageAt(OutageKind kind, std::size_t node, Duration at) const;
  Duration ClockAhead(std::size_t node) const;
};

// `origin`: the first tick.
Job MakeJob(const Training& training, Time origin);

}  // namespace stepscope::scenarios

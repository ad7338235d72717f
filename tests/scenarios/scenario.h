#pragma once

// Whole jobs made from a seed: nodes, GPUs, cores and ranks that live through stretches of time.
// Equal seeds give equal jobs.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/model/table.h"
#include "rules/engine/rule.h"

namespace stepscope::scenarios {

// A stretch of a node's time, with use in percent; values swing by `noise` around their level.
struct Stretch {
  std::size_t ticks = 0;
  double gpu = 0, busiest_core = 0, other_cores = 5, io_wait = 0, noise = 1;
};

// A series of every node that is added to those of the stretches, or replaces one of them: its
// value at a tick of a node. None stands for a sample that no collector gave.
struct Extra {
  SeriesName name;
  std::function<std::optional<double>(std::size_t node, std::size_t tick)> value;
};

struct Steps {
  Duration start = 5s;  // start of the first step, after the job's first tick
  std::size_t count = 0;
  Duration wall = 100ms;
  double data_percent = 0, noise = 1;
  double communication_percent = 0;
  Duration longer{};  // by how much each step is longer than the one before
};

struct Scenario {
  std::uint64_t seed = 1;
  std::size_t nodes = 1, gpus = 1, cores = 4;  // GPUs and cores of each node
  std::vector<Stretch> stretches;
  std::vector<Steps> ranks;  // rank i runs on node i % nodes
  std::vector<Extra> extras;
  double missing = 0;  // part of the stretches' values that is missing
};

struct NodeTicks {
  std::string node;
  std::vector<std::int64_t> at_us;
  std::vector<SeriesName> series;  // sorted
  std::vector<Column> columns;
};
struct RankSteps {
  int rank = 0;
  std::string node;
  std::vector<Step> steps;
};
struct Job {
  JobFacts facts;
  Time origin{};  // first tick
  std::vector<NodeTicks> nodes;
  std::vector<RankSteps> ranks;
};

inline constexpr std::int64_t kOriginUs = 1'790'000'000'000'000;

class Generator {
 public:
  explicit Generator(const Scenario& scenario) : scenario_(scenario), random_(scenario.seed) {}

  Job Make() {
    Job job;
    job.origin = FromMicros(kOriginUs);
    for (std::size_t i = 0; i < scenario_.nodes; ++i) {
      const std::string name = "node-" + std::to_string(i);
      job.facts.nodes.push_back({name, static_cast<int>(scenario_.cores), scenario_.gpus});
      job.nodes.push_back(MakeNode(name, job.facts.interval));
      for (const Extra& extra : scenario_.extras) PutExtra(extra, i, job.nodes.back());
    }
    for (std::size_t i = 0; i < scenario_.ranks.size(); ++i) {
      job.ranks.push_back(MakeRank(static_cast<int>(i), job.nodes[i % job.nodes.size()].node));
    }
    for (const RankSteps& rank : job.ranks) job.facts.ranks.push_back({rank.rank, rank.node});
    job.facts.started = job.origin;
    if (!job.ranks.empty()) job.facts.first_rank = job.origin;
    return job;
  }

 private:
  double Around(double value, double noise) {
    return value + std::uniform_real_distribution<double>(-noise, noise)(random_);
  }

  void Put(Column& column, double percent) {
    const bool present = std::uniform_real_distribution<double>(0, 1)(random_) >= scenario_.missing;
    column.values.push_back(present ? ToScaled(std::min(std::max(percent, 0.0), 100.0), 2) : 0);
    column.present.push_back(present ? 1 : 0);
  }

  NodeTicks MakeNode(const std::string& name, Duration interval) {
    NodeTicks node{name, {}, {}, {}};
    for (std::size_t i = 0; i < scenario_.cores; ++i) {
      node.series.push_back({"cpu_util_percent", std::to_string(i)});
    }
    for (std::size_t i = 0; i < scenario_.gpus; ++i) {
      node.series.push_back({"gpu_util_percent", std::to_string(i)});
    }
    node.series.push_back({"network_receive_bytes_per_second", "eth0"});
    node.series.push_back({"node_cpu_percent", ""});
    node.series.push_back({"node_iowait_percent", ""});
    node.columns.assign(node.series.size(), Column{2, {}, {}});
    for (const Stretch& stretch : scenario_.stretches) {
      for (std::size_t i = 0; i < stretch.ticks; ++i) {
        const auto tick = static_cast<std::int64_t>(node.at_us.size());
        node.at_us.push_back(ToMicros(FromMicros(kOriginUs) + tick * interval));
        PutTick(node, stretch);
      }
    }
    return node;
  }

  void PutTick(NodeTicks& node, const Stretch& stretch) {
    std::size_t column = 0;
    for (std::size_t i = 0; i < scenario_.cores; ++i) {
      const double core = i == 0 ? stretch.busiest_core : stretch.other_cores;
      Put(node.columns[column++], Around(core, stretch.noise));
    }
    for (std::size_t i = 0; i < scenario_.gpus; ++i) {
      Put(node.columns[column++], Around(stretch.gpu, stretch.noise));
    }
    Put(node.columns[column++], Around(50, 40));
    const double others = stretch.other_cores * static_cast<double>(scenario_.cores - 1);
    Put(node.columns[column++],
        (stretch.busiest_core + others) / static_cast<double>(scenario_.cores));
    Put(node.columns[column++], Around(stretch.io_wait, stretch.noise));
  }

  // Inserts the series at its place in the order.
  static void PutExtra(const Extra& extra, std::size_t number, NodeTicks& node) {
    const auto place = std::ranges::lower_bound(node.series, extra.name);
    const auto at = place - node.series.begin();
    if (place == node.series.end() || *place != extra.name) {
      node.series.insert(place, extra.name);
      node.columns.insert(node.columns.begin() + at, Column{});
    }
    Column& column = node.columns[static_cast<std::size_t>(at)] = Column{2, {}, {}};
    for (std::size_t tick = 0; tick < node.at_us.size(); ++tick) {
      const std::optional<double> value = extra.value(number, tick);
      column.values.push_back(value ? ToScaled(*value, column.scale) : 0);
      column.present.push_back(value ? 1 : 0);
    }
  }

  static void PutPhase(Step& step, Phase phase, double percent) {
    const double share = std::max(0.0, percent) / 100;
    step.phases[static_cast<std::size_t>(phase)] =
        Duration(static_cast<std::int64_t>(static_cast<double>(step.wall.count()) * share));
  }

  RankSteps MakeRank(int rank, const std::string& node) {
    RankSteps made{rank, node, {}};
    const Steps& steps = scenario_.ranks[static_cast<std::size_t>(rank)];
    Time start = FromMicros(kOriginUs) + steps.start;
    for (std::size_t i = 0; i < steps.count; ++i) {
      const auto number = static_cast<std::int64_t>(i);
      Step step{number, start, steps.wall + number * steps.longer, {}};
      PutPhase(step, Phase::kData, Around(steps.data_percent, steps.noise));
      PutPhase(step, Phase::kCommunication, steps.communication_percent);
      made.steps.push_back(step);
      start += step.wall + 1ms;
    }
    return made;
  }

  const Scenario& scenario_;
  std::mt19937_64 random_;
};

inline Job MakeJob(const Scenario& scenario) {
  return Generator(scenario).Make();
}

}  // namespace stepscope::scenarios

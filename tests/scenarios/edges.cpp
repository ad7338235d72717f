// Jobs that can hardly be judged, and jobs that were badly observed.

#include "tests/scenarios/catalog.h"
#include "tests/scenarios/healthy.h"

namespace stepscope::scenarios {
namespace {

Training AllFull() {
  Training training = Healthy();
  training.gpus = training.loop.ranks = 8;
  training.cores = 64;
  Add(training, {{"gpu_util_percent", 100}});
  return training;
}

// The training thread is far ahead of the GPU, and waits for batches while that works.
Training Prefetched() {
  Training training = Healthy();
  training.loop.shares = {{Phase::kData, 60}, {Phase::kTransfer, 1}};
  training.loop.change = [](Step& step, int) {
    step.gpu_phases[static_cast<std::size_t>(Phase::kForward)] = step.wall * 40 / 100;
    step.gpu_phases[static_cast<std::size_t>(Phase::kBackward)] = step.wall * 58 / 100;
    step.gpu_idle = step.wall * 2 / 100;
  };
  Add(training, {{"gpu_util_percent", 98, 1}});
  return training;
}

Training OneIdle() {
  Training training = Healthy();
  training.gpus = 4;
  training.loop.ranks = 3;
  training.cores = 24;
  training.interval = 1s;
  training.length = 15min;
  Add(training, {{"gpu_util_percent", 0, 0, {}, 0, "gpu3"}});
  return training;
}

Training IdleEnd() {
  Training training = Healthy();
  training.interval = 1s;
  training.length = 64min;
  training.loop.wall = 1s;
  training.loop.change = [](Step& step, int) {
    if (step.number >= 63 * 60) step.start += 1h;
  };
  return training;
}

Training Short() {
  Training training = Healthy();
  training.length = 400s;
  training.loop.ranks = 0;
  Add(training, {{"gpu_util_percent", 96, 1}});
  return training;
}

Training NoGpu() {
  Training training = Healthy();
  training.gpus = 0;
  training.loop.shares = {{Phase::kData, 60}};
  Add(training, {
                    {"cpu_util_percent", 92, 1, {Phase::kData}, 99},
                    {"process_loaders_cpu_percent", 100, 5, {Phase::kData}, 780},
                });
  return training;
}

// A job with slow input that only the host shows.
Training NoSteps() {
  Training training = Healthy();
  training.interval = 1s;
  training.length = 25min;
  training.loop.ranks = 0;
  Add(training, {
                    {"gpu_util_percent", 6, 3},
                    {"cpu_iowait_percent", 70, 5},
                    {"node_iowait_percent", 60, 5},
                });
  return training;
}

Training SilentNode() {
  Training training = Healthy();
  training.nodes = 2;
  training.outages = {{OutageKind::kSilence, 3min, std::chrono::hours(24), 1}};
  return training;
}

Training LongStart() {
  Training training = Healthy();
  training.interval = 5s;
  training.length = 35min;
  training.loop.start = 1195s;
  return training;
}

Training FastSamples() {
  Training training = Healthy();
  training.interval = 100ms;
  training.length = 2min;
  training.loop.start = 5s;
  training.loop.shares = {{Phase::kData, 40}};
  Add(training, {
                    {"cpu_util_percent", 92, 2, {Phase::kData}, 99},
                    {"process_loaders_cpu_percent", 100, 5, {Phase::kData}, 780},
                });
  return training;
}

Training SeldomSamples() {
  Training training = Healthy();
  training.interval = 60s;
  training.length = 10h;
  training.loop.start = 90s;
  training.loop.wall = 4s;
  training.loop.shares = {{Phase::kData, 93}};
  Add(training, {
                    {"cpu_util_percent", 20, 2, {Phase::kData}, 97},
                    {"process_loaders_cpu_percent", 100, 5, {Phase::kData}, 780},
                });
  return training;
}

// Input is slow for 30 s of each 2 minutes.
Training Gaps() {
  Training training = Healthy();
  training.length = 12min;
  for (Duration at = 90s; at < training.length; at += 2min) {
    training.outages.push_back({OutageKind::kNoSamples, at, at + 30s});
  }
  return training;
}

// No collector samples the GPU, and the others miss every third value.
Training MissingMetrics() {
  Training training = Healthy();
  for (Sign& sign : training.signs) {
    const bool gpu = sign.metric.starts_with("gpu_");
    sign.change = [gpu](double value, const Moment& moment) -> std::optional<double> {
      if (gpu || moment.at / 500ms % 3 == 0) return std::nullopt;
      return value;
    };
  }
  return training;
}

Training Restarted() {
  Training training = Healthy();
  training.length = 10min;
  training.outages = {{OutageKind::kRestart, 5min, 5min + 20s}};
  return training;
}

Training ClocksApart() {
  Training training = Healthy();
  training.nodes = 2;
  training.loop.shares = {{Phase::kData, 1}, {Phase::kCommunication, 1}};
  training.clock_ahead = {{1, 5s}};
  return training;
}

Training Failed() {
  Training training = Healthy();
  training.length = 5min;
  training.exit_code = 1;
  return training;
}

const std::vector<std::string_view> kNeedGpus = {
    "BatchSize",    "CPUBottleneck", "GPUMemoryIncrease", "GPUThrottled",
    "IOBottleneck", "IdleGPU",       "LowGPUUtilization", "NetworkBottleneck"};

const NamedScenario kEdges[] = {
    {"all-gpus-full", "8 GPUs at 100 % from beginning to end", AllFull, {kNoBottleneck}},
    {"prefetch-far-ahead",
     "the host waits 60 % of each step for data, and the GPU has work all the time",
     Prefetched,
     {kNoBottleneck}},
    {"idle-gpu",
     "one of four GPUs does nothing",
     OneIdle,
     {"under_use", {"IdleGPU", "LoadBalancing", "LowGPUUtilization"}}},
    {"idle-at-the-end",
     "63 busy minutes, and one in which nothing happens",
     IdleEnd,
     {.cause = kNoBottleneck, .note = "what follows the last step is not the training"}},
    {"short-job",
     "400 s without a word from the processes",
     Short,
     {kNoBottleneck, {}, {"BatchSize", "CPUBottleneck", "IOBottleneck", "LowGPUUtilization"}}},
    {"no-gpu",
     "a node without GPU, whose cores cannot keep up with the data",
     NoGpu,
     {"preprocessing", {"DataloaderBottleneck"}, kNeedGpus}},
    {"no-steps",
     "slow disks, and no word from the processes",
     NoSteps,
     {"raw_data_input", {"IOBottleneck", "LowGPUUtilization"}, {"DataloaderBottleneck"}}},
    {"silent-node",
     "one of two nodes is heard no more after 3 minutes",
     SilentNode,
     {.cause = kNoBottleneck, .status = JobStatus::kFailed}},
    {"long-start",
     "the first step ends 5 s before the 20 minutes are over",
     LongStart,
     {kNoBottleneck}},
    {"samples-of-100ms",
     "2 minutes, sampled ten times a second, that wait for busy cores",
     FastSamples,
     {"preprocessing", {"DataloaderBottleneck"}}},
    {"samples-of-60s",
     "10 hours, sampled once a minute, that wait for busy cores",
     SeldomSamples,
     {"preprocessing", {"CPUBottleneck", "DataloaderBottleneck", "LowGPUUtilization"}}},
    {"gaps", "no samples for 30 s of each 2 minutes", Gaps, {kNoBottleneck}},
    {"missing-metrics",
     "no collector sees the GPU, and others miss a third of their samples",
     MissingMetrics,
     {kNoBottleneck, {}, kNeedGpus}},
    {"restart",
     "killed after 5 minutes, and started again from its last checkpoint",
     Restarted,
     {.cause = kNoBottleneck, .note = "the second start is no time of the training either"}},
    {"clocks-apart", "two nodes whose clocks are 5 s apart", ClocksApart, {kNoBottleneck}},
    {"failed",
     "the command ends with exit code 1",
     Failed,
     {.cause = kNoBottleneck, .status = JobStatus::kFailed}},
};

}  // namespace

std::span<const NamedScenario> Edges() {
  return kEdges;
}

}  // namespace stepscope::scenarios

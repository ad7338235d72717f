// Jobs with one problem each that rules look for besides the stages, and mixtures of problems.

#include "tests/scenarios/catalog.h"
#include "tests/scenarios/healthy.h"

namespace stepscope::scenarios {
namespace {

Training FewLoaders() {
  Training training = Healthy();
  training.loop.facts["loader_num_workers"] = "1";
  training.loop.shares = {{Phase::kData, 6}};
  return training;
}

// Rank 2 has more to do; the others wait for it at the end of each step.
Training OneStraggler() {
  Training training = Healthy();
  training.nodes = 2;
  training.gpus = training.loop.ranks = 2;
  training.loop.shares = {{Phase::kData, 1}};
  training.loop.change = [](Step& step, int rank) {
    const Duration waits = rank == 2 ? step.wall / 50 : step.wall * 3 / 10;
    step.phases[static_cast<std::size_t>(Phase::kCommunication)] = waits;
    step.wall -= waits;
  };
  return training;
}

// The slow steps have no rhythm.
Training Outliers() {
  Training training = Healthy();
  training.loop.change = [](Step& step, int) {
    const auto drawn = static_cast<std::uint64_t>(step.number + 1) * 0x9e3779b97f4a7c15;
    if ((drawn >> 32) % 97 == 0) step.phases[static_cast<std::size_t>(Phase::kOther)] += 700ms;
  };
  return training;
}

Training Regression() {
  Training training = Healthy();
  training.loop.change = [](Step& step, int) {
    if (step.number >= 900) step.wall = step.wall * 13 / 10;
  };
  return training;
}

// A list that is summed up in each step grows with every one.
Training GrowingSteps() {
  Training training = Healthy();
  training.loop.change = [](Step& step, int) {
    step.phases[static_cast<std::size_t>(Phase::kForward)] += step.number * 150us;
  };
  return training;
}

// A container with two cores' time on a node of eight.
Training SmallQuota() {
  Training training = Healthy();
  Add(training, {
                    {"cgroup_throttled_percent", 94, 4},
                    {"cgroup_cpu_percent", 200, 1},
                    {"gpu_util_percent", 0, 1, kCompute, 45},
                });
  return training;
}

Training Stalled() {
  Training training = Healthy();
  training.interval = 1s;
  training.length = 13min;
  training.loop.change = [](Step& step, int) {
    if (step.number == 1200) step.start += 1h;
  };
  return training;
}

Training SlowStart() {
  Training training = Healthy();
  training.interval = 5s;
  training.length = 30min;
  training.loop.start = 22min;
  return training;
}

Training LateProcesses() {
  Training training = Healthy();
  training.interval = 2s;
  training.length = 16min;
  training.loop.start = 10min + 30s;
  training.loop.connects = 10min;
  return training;
}

Training SmallBatches() {
  Training training = Healthy();
  Add(training, {
                    {"gpu_util_percent", 0, 1, kCompute, 38},
                    {"gpu_memory_used_percent", 24, 0.02},
                });
  return training;
}

Training HotGpu() {
  Training training = Healthy();
  Add(training, {{.metric = "gpu_thermal_throttle_percent", .change = [](double, const Moment& m) {
                    return m.at / 10s % 5 < 2 ? 100.0 : 0.0;
                  }}});
  return training;
}

Training MemoryJump() {
  Training training = Healthy();
  Add(training, {{.metric = "gpu_memory_used_percent",
                  .change = [](double, const Moment& m) { return m.at < 5min ? 52.0 : 64.0; }}});
  return training;
}

Training SlowNetwork() {
  Training training = Healthy();
  training.loop.shares = {{Phase::kData, 93}};
  Add(training, {
                    {"network_link_bytes_per_second", 1.25e9},
                    {"network_receive_bytes_per_second", 2e7, 1e7, {Phase::kData}, 1.24e9},
                });
  return training;
}

Training UnevenLoad() {
  Training training = Healthy();
  training.gpus = 2;
  Add(training, {{"gpu_util_percent", 0, 1, kCompute, 52, "gpu1"}});
  return training;
}

Training Leak() {
  Training training = Healthy();
  training.interval = 10s;
  training.length = 150min;
  training.loop.wall = 1s;
  Add(training, {{.metric = "memory_used_percent", .change = [](double, const Moment& moment) {
                    return 40 + 12 * ToSeconds(moment.at) / 3600;
                  }}});
  return training;
}

Training Uploads() {
  Training training = Healthy();
  training.length = 12min;
  const auto sends = [](double, const Moment& moment) {
    const auto burst = static_cast<double>(moment.at / 60s);
    return moment.at % 60s < 10s ? 50e6 * (1 + 0.3 * burst) : 1e5;
  };
  Add(training, {{.metric = "network_send_bytes_per_second", .change = sends}});
  return training;
}

// Most time goes to input, and a good part of the remainder to gradients.
Training InputAndCommunication() {
  Training training = Healthy();
  training.nodes = 2;
  training.loop.shares = {{Phase::kData, 48}, {Phase::kCommunication, 20}};
  Add(training, {
                    {"node_iowait_percent", 1, 1, {Phase::kData}, 80},
                    {"cpu_iowait_percent", 1, 1, {Phase::kData}, 85},
                    {"disk_read_bytes_per_second", 5e6, 2e6, {Phase::kData}, 480e6},
                });
  return training;
}

Training PreprocessingAndCheckpoints() {
  Training training = Healthy();
  training.loop.shares = {{Phase::kData, 45}};
  training.loop.change = [](Step& step, int) {
    if (step.number % 100 == 99) {
      step.phases[static_cast<std::size_t>(Phase::kCheckpoint)] += 5s;
    }
  };
  Add(training, {
                    {"cpu_util_percent", 88, 1, {Phase::kData}, 99},
                    {"process_loaders_cpu_percent", 100, 5, {Phase::kData}, 780},
                    {"disk_write_bytes_per_second", 1e6, 5e5, {Phase::kCheckpoint}, 900e6},
                });
  return training;
}

// The first three minutes read data from disk that is cached from then on.
Training ColdCache() {
  Training training = Healthy();
  training.length = 10min;
  training.loop.change = [](Step& step, int) {
    if (step.number < 90) step.phases[static_cast<std::size_t>(Phase::kData)] += 1800ms;
  };
  Add(training, {{"node_iowait_percent", 0.5, 0.2, {Phase::kData}, 70}});
  return training;
}

const NamedScenario kSuspects[] = {
    {"few-loader-workers",
     "one worker loads data on a node of 8 cores, and keeps up almost",
     FewLoaders,
     {kNoBottleneck, {"Dataloader"}}},
    {"straggler",
     "one of four ranks has more to do, and all wait for it",
     OneStraggler,
     {"late_rank", {"CommunicationBottleneck", "LoadBalancing", "Straggler"}}},
    {"step-outliers",
     "one of a hundred steps takes four times as long, without a rhythm",
     Outliers,
     {kNoBottleneck, {"StepOutlier"}}},
    {"slower-steps",
     "after 3 minutes each step takes 30 % longer",
     Regression,
     {kNoBottleneck, {"StepTimeRegression"}}},
    {"growing-steps",
     "each step takes a little longer than the one before",
     GrowingSteps,
     {kNoBottleneck, {"StepTimeTrend"}}},
    {"small-quota",
     "a container uses up its quota of CPU time in nearly every period",
     SmallQuota,
     {"throttled", {"LowGPUUtilization", "Throttled"}}},
    {"stalled",
     "after 4 minutes no step ends any more",
     Stalled,
     {kNoBottleneck, {"StalledTraining"}}},
    {"late-processes",
     "data is copied for 10 minutes before the processes begin",
     LateProcesses,
     {kNoBottleneck}},
    {"slow-start",
     "22 minutes pass before the first step",
     SlowStart,
     {kNoBottleneck, {"MaxInitializationTime"}}},
    {"small-batches",
     "GPU, its memory and the CPU all have room",
     SmallBatches,
     {"under_use", {"BatchSize", "LowGPUUtilization"}}},
    {"hot-gpu",
     "heat holds the GPU's clocks down for 40 % of the time",
     HotGpu,
     {kNoBottleneck, {"GPUThrottled"}}},
    {"gpu-memory-jump",
     "the GPU's allocated memory rises from 52 to 64 % at once",
     MemoryJump,
     {kNoBottleneck, {"GPUMemoryIncrease"}}},
    {"slow-network",
     "batches wait for a network link that is full",
     SlowNetwork,
     {"raw_data_input", {"DataloaderBottleneck", "LowGPUUtilization", "NetworkBottleneck"}}},
    {"uneven-load",
     "one of two GPUs has half of the work of the other",
     UnevenLoad,
     {"under_use", {"LoadBalancing", "LowGPUUtilization"}}},
    {"memory-leak",
     "the host's memory rises by 12 points an hour",
     Leak,
     {kNoBottleneck, {"MemoryLeak"}}},
    {"growing-upload",
     "each minute the node sends more than in the one before",
     Uploads,
     {kNoBottleneck, {"GrowingUpload"}}},
    {"input-and-communication",
     "half of each step waits for disks, a fifth for other ranks",
     InputAndCommunication,
     {"raw_data_input", {"CommunicationBottleneck", "DataloaderBottleneck", "LowGPUUtilization"}}},
    {"preprocessing-and-checkpoints",
     "batches wait for busy cores, and every 100th step writes a checkpoint",
     PreprocessingAndCheckpoints,
     {"preprocessing",
      {"DataloaderBottleneck", "LowGPUUtilization", "PeriodicStall", "StepOutlier"}}},
    {"cold-cache",
     "the first 3 minutes wait for data, the others do not",
     ColdCache,
     {"raw_data_input", {"DataloaderBottleneck", "LowGPUUtilization"}}},
};

}  // namespace

std::span<const NamedScenario> Suspects() {
  return kSuspects;
}

}  // namespace stepscope::scenarios

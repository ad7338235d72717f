// A job for each of the eight stages of a step, held up by that stage, and a training that nothing
// holds up.

#include "tests/scenarios/catalog.h"
#include "tests/scenarios/healthy.h"

namespace stepscope::scenarios {
namespace {

Training SlowInput() {
  Training training = Healthy();
  training.loop.shares = {{Phase::kData, 93}};
  Add(training, {
                    {"cpu_iowait_percent", 1, 1, {Phase::kData}, 72},
                    {"node_iowait_percent", 1, 1, {Phase::kData}, 64},
                    {"disk_busy_percent", 5, 2, {Phase::kData}, 99},
                    {"disk_read_bytes_per_second", 5e6, 2e6, {Phase::kData}, 480e6},
                });
  return training;
}

Training SlowPreprocessing() {
  Training training = Healthy();
  training.loop.shares = {{Phase::kData, 93}};
  Add(training, {
                    {"cpu_util_percent", 20, 2, {Phase::kData}, 97},
                    {"process_loaders_cpu_percent", 100, 5, {Phase::kData}, 780},
                });
  return training;
}

Training SlowTransfer() {
  Training training = Healthy();
  training.loop.shares = {{Phase::kData, 1}, {Phase::kTransfer, 45}};
  Add(training, {{"gpu_pcie_receive_bytes_per_second", 1e6, 1e5, {Phase::kTransfer}, 5e9}});
  return training;
}

// The GPU waits between small kernels for the thread that launches them.
Training FrameworkOverhead() {
  Training training = Healthy();
  Add(training, {
                    {"gpu_util_percent", 0, 2, kCompute, 46},
                    {"cpu_util_percent", 6, 2, kCompute, 99, "cpu0"},
                    {"process_thread_cpu_percent", 30, 1, kCompute, 99},
                });
  return training;
}

Training Communication() {
  Training training = Healthy();
  training.nodes = 2;
  training.gpus = training.loop.ranks = 2;
  training.loop.shares = {{Phase::kData, 1}, {Phase::kCommunication, 38}};
  Add(training, {
                    {"network_receive_bytes_per_second", 2e6, 1e6, {Phase::kCommunication}, 2e9},
                    {"network_send_bytes_per_second", 2e6, 1e6, {Phase::kCommunication}, 2e9},
                });
  return training;
}

// Waits for losses and metrics have no phase of their own; the loop marks them as "other".
Training DeviceToHost() {
  Training training = Healthy();
  training.loop.shares = {{Phase::kData, 1}, {Phase::kOther, 40}};
  Add(training, {{"gpu_pcie_send_bytes_per_second", 1e6, 1e5, {Phase::kOther}, 4e9}});
  return training;
}

// Every 50th step takes as long as 45.
void Every50th(Training& training, Phase phase) {
  training.loop.change = [phase](Step& step, int) {
    if (step.number % 50 == 49) step.phases[static_cast<std::size_t>(phase)] += 9s;
  };
}

Training Callbacks() {
  Training training = Healthy();
  Every50th(training, Phase::kCallback);
  Add(training, {{"cpu_util_percent", 20, 4, {Phase::kCallback}, 82, "cpu0"}});
  return training;
}

Training SlowStorage() {
  Training training = Healthy();
  Every50th(training, Phase::kCheckpoint);
  Add(training, {
                    {"disk_busy_percent", 4, 2, {Phase::kCheckpoint}, 99},
                    {"disk_write_bytes_per_second", 1e6, 5e5, {Phase::kCheckpoint}, 900e6},
                    {"node_iowait_percent", 0.5, 0.2, {Phase::kCheckpoint}, 12},
                });
  return training;
}

const NamedScenario kStages[] = {
    {"healthy", "a training that nothing holds up", Healthy, {kNoBottleneck}},
    {"slow-input",
     "stage 1: batches wait for a disk that reads all it can",
     SlowInput,
     {"raw_data_input", {"DataloaderBottleneck", "IOBottleneck", "LowGPUUtilization"}}},
    {"slow-preprocessing",
     "stage 2: batches wait for cores that are all busy",
     SlowPreprocessing,
     {"preprocessing", {"CPUBottleneck", "DataloaderBottleneck", "LowGPUUtilization"}}},
    {"slow-transfer",
     "stage 3: copies to the GPU take almost half of each step",
     SlowTransfer,
     {"host_to_device", {"LowGPUUtilization"}}},
    {"framework-overhead",
     "stage 4: the training thread launches kernels slower than the GPU runs them",
     FrameworkOverhead,
     {"framework_overhead", {"FrameworkOverhead", "LowGPUUtilization"}}},
    {"communication",
     "stage 5: four ranks on two nodes wait for each other's gradients",
     Communication,
     {"communication", {"CommunicationBottleneck", "LowGPUUtilization"}}},
    {"device-to-host",
     "stage 6: each step waits for its loss to come back",
     DeviceToHost,
     {"device_to_host", {"LowGPUUtilization"}}},
    {"callbacks",
     "stage 7: every 50th step runs callbacks for 9 s",
     Callbacks,
     {"callbacks", {"LowGPUUtilization", "PeriodicStall", "StepOutlier"}}},
    {"slow-storage",
     "stage 8: every 50th step writes a checkpoint for 9 s",
     SlowStorage,
     {"storage", {"LowGPUUtilization", "PeriodicStall", "StepOutlier"}}},
};

}  // namespace

std::span<const NamedScenario> Stages() {
  return kStages;
}

}  // namespace stepscope::scenarios

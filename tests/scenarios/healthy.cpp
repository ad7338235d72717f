#include "tests/scenarios/healthy.h"

namespace stepscope::scenarios {

void Add(Training& training, std::initializer_list<Sign> signs) {
  training.signs.insert(training.signs.end(), signs);
}

Training Healthy() {
  Training training;
  training.loop.shares = {{Phase::kData, 1}, {Phase::kTransfer, 1}};
  training.loop.facts = {{"framework", "pytorch"},
                         {"loader_num_workers", "8"},
                         {"loader_pin_memory", "True"},
                         {"loader_prefetch_factor", "2"}};
  Add(training, {
                    {"cpu_util_percent", 18, 4, kCompute, 30},
                    {"cpu_iowait_percent", 0.5, 0.5},
                    {"node_iowait_percent", 0.5, 0.2},
                    {"memory_used_percent", 41.5, 0.05},
                    {"disk_busy_percent", 4, 2},
                    {"disk_read_bytes_per_second", 30e6, 5e6},
                    {"disk_write_bytes_per_second", 1e6, 5e5},
                    {"network_receive_bytes_per_second", 2e6, 1e6},
                    {"network_send_bytes_per_second", 1e6, 5e5},
                    {"process_thread_cpu_percent", 20, 3, kCompute, 45},
                    {"process_loaders", 8},
                    {"gpu_util_percent", 0, 0, kCompute, 98},
                    {"gpu_memory_used_percent", 82, 0.02},
                    {"gpu_power_watts", 70, 2, kCompute, 360},
                    {"gpu_temperature_celsius", 45, 1, kCompute, 66},
                    {"gpu_power_throttle_percent", 0},
                    {"gpu_thermal_throttle_percent", 0},
                });
  return training;
}

}  // namespace stepscope::scenarios

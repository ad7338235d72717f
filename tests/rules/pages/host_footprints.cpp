#include <algorithm>
#include <cmath>

#include "tests/rules/pages/footprint.h"

namespace stepscope::scenarios {
namespace {

constexpr std::size_t kMinute = 120;  // ticks

double Minutes(std::size_t tick) {
  return static_cast<double>(tick) / kMinute;
}

// A value that swings a little from tick to tick.
double Around(double value, double by, std::size_t tick) {
  const auto t = static_cast<double>(tick);
  return value + by * (std::sin(t * 0.7) + std::sin(t * 1.9) + std::sin(t * 0.13)) / 3;
}

Extra Series(SeriesName name, std::function<double(std::size_t)> value) {
  return {std::move(name), [value = std::move(value)](std::size_t, std::size_t tick) {
            return std::optional<double>(value(tick));
          }};
}

Scenario Life(std::vector<Stretch> stretches, std::vector<Extra> extras = {}) {
  Scenario scenario;
  scenario.stretches = std::move(stretches);
  scenario.extras = std::move(extras);
  scenario.ranks = {{20s, 1}};  // the first step ends the initialisation
  return scenario;
}

Panel GpuUse(std::optional<double> threshold = {}) {
  return {"GPU use, %", {{{"gpu_util_percent", "0"}, "GPU 0"}}, threshold};
}
Panel OneLine(std::string title, SeriesName name, std::optional<double> threshold = {},
              double divisor = 1) {
  return {std::move(title), {{std::move(name), "", divisor}}, threshold};
}

Footprint LowGpu() {
  const Scenario life = Life({{5 * kMinute, 92, 40, 10, 0, 6},
                              {12 * kMinute, 42, 40, 10, 0, 12},
                              {6 * kMinute, 92, 40, 10, 0, 6}});
  return {"LowGPUUtilization", MakeJob(life), {GpuUse(70)}};
}

Footprint Cpu() {
  const Scenario life = Life({{3 * kMinute, 88, 55, 20, 0, 6},
                              {10 * kMinute, 4, 97, 30, 0, 3},
                              {2 * kMinute, 88, 55, 20, 0, 6}});
  return {"CPUBottleneck",
          MakeJob(life),
          {GpuUse(10), OneLine("Busiest core, %", {"cpu_util_percent", "0"}, 90)}};
}

Footprint Io() {
  const Scenario life = Life({{3 * kMinute, 88, 30, 20, 3, 3},
                              {10 * kMinute, 4, 15, 10, 72, 3},
                              {2 * kMinute, 88, 30, 20, 3, 3}});
  return {"IOBottleneck",
          MakeJob(life),
          {GpuUse(10), OneLine("I/O wait of the node, %", {"node_iowait_percent", ""}, 50)}};
}

Footprint Network() {
  const auto full = [](std::size_t tick) { return Minutes(tick) >= 3 && Minutes(tick) < 12; };
  const Scenario life = Life(
      {{3 * kMinute, 88, 30, 20, 0, 5}, {9 * kMinute, 14, 30, 20, 0, 8}, {2 * kMinute, 88, 30}},
      {Series({"network_receive_bytes_per_second", "eth0"},
              [=](std::size_t tick) { return Around(full(tick) ? 1.19e9 : 3e8, 4e7, tick); }),
       Series({"network_link_bytes_per_second", "eth0"}, [](std::size_t) { return 1.25e9; })});
  return {"NetworkBottleneck",
          MakeJob(life),
          {GpuUse(30),
           OneLine("Received, MB/s", {"network_receive_bytes_per_second", "eth0"}, 1125, 1e6)}};
}

Footprint Batch() {
  const Scenario life = Life({{20 * kMinute, 45, 30, 20, 0, 10}},
                             {Series({"gpu_memory_used_percent", "0"}, [](std::size_t tick) {
                               return Minutes(tick) < 1 ? 5 : Around(28, 1, tick);
                             })});
  return {"BatchSize",
          MakeJob(life),
          {{"All below their thresholds, %",
            {{{"gpu_util_percent", "0"}, "GPU use"},
             {{"gpu_memory_used_percent", "0"}, "GPU memory"},
             {{"node_cpu_percent", ""}, "CPU"}},
            70}}};
}

Footprint Idle() {
  Scenario life = Life({{20 * kMinute, 90, 40, 20, 0, 6}},
                       {Series({"gpu_util_percent", "1"}, [](std::size_t) { return 0; })});
  life.gpus = 2;
  return {"IdleGPU",
          MakeJob(life),
          {{"GPU use, %",
            {{{"gpu_util_percent", "0"}, "GPU 0"}, {{"gpu_util_percent", "1"}, "GPU 1"}}}}};
}

Footprint Throttled() {
  const auto hot = [](std::size_t tick) { return Minutes(tick) >= 8 && tick % 10 < 6; };
  const Scenario life =
      Life({{20 * kMinute, 97, 40, 20, 0, 2}},
           {Series({"gpu_thermal_throttle_percent", "0"},
                   [=](std::size_t tick) { return hot(tick) ? 100 : 0; }),
            Series({"gpu_power_throttle_percent", "0"}, [](std::size_t) { return 0; }),
            Series({"gpu_sm_clock_mhz", "0"}, [=](std::size_t tick) {
              return Around(Minutes(tick) >= 8 ? 1350 : 1900, 40, tick);
            })});
  return {
      "GPUThrottled",
      MakeJob(life),
      {OneLine("Clock held down by heat, % of samples", {"gpu_thermal_throttle_percent", "0"}, 10),
       OneLine("Clock of the GPU, MHz", {"gpu_sm_clock_mhz", "0"})}};
}

Footprint Quota() {
  const Scenario life = Life(
      {{4 * kMinute, 85, 40, 20, 0, 5}, {11 * kMinute, 25, 40, 20, 0, 8}},
      {Series({"cgroup_throttled_percent", ""},
              [](std::size_t tick) {
                return std::clamp(Around(Minutes(tick) < 4 ? 3 : 92, 9, tick), 0.0, 100.0);
              }),
       Series({"cgroup_cpu_percent", ""},
              [](std::size_t tick) { return Around(Minutes(tick) < 4 ? 250 : 400, 8, tick); })});
  return {"Throttled",
          MakeJob(life),
          {OneLine("Quota used up, % of periods", {"cgroup_throttled_percent", ""}, 25), GpuUse()}};
}

Footprint MemoryJump() {
  const Scenario life = Life({{20 * kMinute, 90, 40, 20, 0, 5}},
                             {Series({"gpu_memory_used_percent", "0"}, [](std::size_t tick) {
                               return Around(Minutes(tick) < 12 ? 58 : 81, 0.5, tick);
                             })});
  return {"GPUMemoryIncrease",
          MakeJob(life),
          {OneLine("Allocated GPU memory, %", {"gpu_memory_used_percent", "0"})}};
}

Footprint Balance() {
  Scenario life =
      Life({{20 * kMinute, 92, 40, 20, 0, 5}},
           {Series({"gpu_util_percent", "1"}, [](auto tick) { return Around(52, 12, tick); })});
  life.gpus = 2;
  return {"LoadBalancing",
          MakeJob(life),
          {{"GPU use, %",
            {{{"gpu_util_percent", "0"}, "GPU 0"}, {{"gpu_util_percent", "1"}, "GPU 1"}}}}};
}

Footprint Leak() {
  const Scenario life = Life({{150 * kMinute, 90, 40, 20, 0, 5}},
                             {Series({"memory_used_percent", ""}, [](std::size_t tick) {
                               return Around(34 + Minutes(tick) * 0.32, 0.8, tick);
                             })});
  return {"MemoryLeak",
          MakeJob(life),
          {OneLine("Memory of the node, %", {"memory_used_percent", ""}, 100)}};
}

Footprint Overhead() {
  Scenario life = Life({{3 * kMinute, 88, 45, 20, 0, 5}, {12 * kMinute, 46, 60, 20, 0, 8}},
                       {Series({"process_thread_cpu_percent", "rank0"}, [](std::size_t tick) {
                         return std::min(100.0, Around(Minutes(tick) < 3 ? 60 : 97, 3, tick));
                       })});
  life.ranks = {{20s, 8000, 100ms, 1}};
  return {"FrameworkOverhead",
          MakeJob(life),
          {GpuUse(70),
           OneLine("Training thread, % of a core", {"process_thread_cpu_percent", "rank0"}, 90)}};
}

Footprint Upload() {
  const Scenario life =
      Life({{30 * kMinute, 90, 40, 20, 0, 5}},
           {Series({"network_send_bytes_per_second", "eth0"}, [](std::size_t tick) {
             const bool sends = tick >= 2 * kMinute && tick % (2 * kMinute) < 20;
             return Around(sends ? 2e7 + 3e6 * Minutes(tick) : 2e5, 1e5, tick);
           })});
  return {"GrowingUpload",
          MakeJob(life),
          {OneLine("Sent, MB/s", {"network_send_bytes_per_second", "eth0"}, {}, 1e6)}};
}

Footprint Usage() {
  const Scenario life = Life({{4 * kMinute, 3, 60, 30, 0, 8},
                              {10 * kMinute, 88, 45, 25, 0, 8},
                              {3 * kMinute, 40, 95, 60, 0, 8}});
  return {"OverallSystemUsage",
          MakeJob(life),
          {GpuUse(), OneLine("CPU of the node, %", {"node_cpu_percent", ""}),
           OneLine("I/O wait of the node, %", {"node_iowait_percent", ""})}};
}

Footprint Hot() {
  const SeriesName gpu = {"gpu_temperature_celsius", "0"};
  const Scenario life = Life({{15 * kMinute, 90, 40, 10, 0, 5}}, {Series(gpu, [](std::size_t tick) {
                               const double at = Minutes(tick);
                               return Around(at >= 6 && at < 11 ? 86 : 71, 2, tick);
                             })});
  return {"Custom",
          MakeJob(life),
          {OneLine("GPU temperature, °C", gpu, 83)},
          {{"metric", gpu.metric}, {"aggregation", "p95"}, {"window", "60s"}, {"threshold", 83}}};
}

}  // namespace

std::vector<Footprint> HostFootprints() {
  return {LowGpu(),     Cpu(),     Io(),   Network(),  Batch(),  Idle(),  Throttled(), Quota(),
          MemoryJump(), Balance(), Leak(), Overhead(), Upload(), Usage(), Hot()};
}

}  // namespace stepscope::scenarios

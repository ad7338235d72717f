// Processes that hold memory of NVIDIA's GPUs.

#include <gtest/gtest.h>

#include "tests/agent/gpu/gpu_fixture.h"
#include "tests/support/eventually.h"

namespace stepscope {
namespace {

using test::GpuBench;

TEST(Nvidia, TellsWhichProcessesHoldMemory) {
  GpuBench gpu(2);
  const auto listed = [&](Duration since_start) {
    std::vector<GpuProcess> processes;
    gpu.collector->GpuProcessesInto(SteadyTime(1h) + since_start, processes);
    return processes;
  };
  for (unsigned i = 0; i < 20; ++i) gpu.script.gpus[1].pids[i] = 100 + i;
  gpu.script.gpus[1].held[19] = 5ull << 30;
  gpu.script.gpus[1].processes = 20;  // more than there is room for at first
  gpu.script.gpus[0].processes = 3;
  gpu.script.gpus[0].pids[0] = 119;
  gpu.script.gpus[0].held[0] = 7;
  gpu.script.gpus[0].pids[1] = 120;
  gpu.script.gpus[0].held[1] = nvml::kUnknownMemory;
  gpu.script.gpus[0].pids[2] = 0;  // in another container
  ASSERT_TRUE(gpu.At(0s));
  ASSERT_TRUE(Eventually([&] { return listed(0s).size() == 21; }));
  EXPECT_EQ(listed(0s)[0], (GpuProcess{119, 7}));
  EXPECT_EQ(listed(0s)[20], (GpuProcess{119, 5ull << 30}));
  EXPECT_TRUE(listed(1min).empty());  // the list was not read since
}

TEST(Nvidia, ListsNoProcessesOfAGpuThatDoesNotTell) {
  GpuBench gpu(2);
  gpu.script.gpus[0].refused = test::kFakeProcesses;
  for (unsigned i : {0, 1}) gpu.script.gpus[i].processes = 1, gpu.script.gpus[i].pids[0] = 50 + i;
  ASSERT_TRUE(gpu.At(0s));
  std::vector<GpuProcess> processes;
  ASSERT_TRUE(Eventually([&] {
    gpu.collector->GpuProcessesInto(SteadyTime(1h), processes);
    return !processes.empty();
  }));
  EXPECT_EQ(processes, (std::vector<GpuProcess>{{51, 0}}));
}

}  // namespace
}  // namespace stepscope

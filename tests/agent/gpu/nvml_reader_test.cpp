// The reader with a driver that answers late, or shows only some of its GPUs.

#include "agent/gpu/nvml_reader.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/agent/gpu/gpu_fixture.h"

namespace stepscope {
namespace {

// A clock that gives the time of a tick to the caller that requests a reading, and a later time
// from then on.
struct SlowDriver {
  std::atomic<Duration> tick{0s}, answer{0s};
  std::atomic<bool> asked = false;

  SteadyTime Now() { return SteadyTime(1h) + (asked.exchange(true) ? answer : tick).load(); }
  void At(Duration now, Duration late) {
    tick = now;
    answer = now + late;
    asked = false;
  }
};

TEST(NvmlReader, RatesAreOverTheTimeBetweenTheAnswers) {
  test::FakeNvml& script = test::ScriptOf(test::FakeNvmlFile());
  SlowDriver driver;
  const auto made = MakeNvidiaCollector(test::FakeNvmlFile(), test::GpuBench::kPatient,
                                        [&] { return driver.Now(); });
  ASSERT_TRUE(made.ok());
  TickRow row;
  const auto power_at = [&](Duration tick, Duration late, unsigned grown_mj) {
    script.gpus[0].energy_mj += grown_mj;
    driver.At(tick, late);
    row.Clear();
    EXPECT_TRUE((*made)->Collect(SteadyTime(1h) + tick, row));
    return row.At("gpu_power_watts", "gpu0");
  };
  power_at(0s, 0s, 0);
  EXPECT_DOUBLE_EQ(power_at(500ms, 1500ms, 1'300'000), 650);
  EXPECT_DOUBLE_EQ(power_at(2500ms, 0s, 325'000), 650);
}

// A job of a batch system may get one GPU of three.
TEST(NvmlReader, LeavesOutGpusThatItMayNotSee) {
  test::FakeNvml& script = test::ScriptOf(test::FakeNvmlFile());
  script.count = 3;
  script.gpus[0].hidden = script.gpus[2].hidden = true;
  const auto made = MakeNvidiaCollector(test::FakeNvmlFile(), test::GpuBench::kPatient);
  ASSERT_TRUE(made.ok());
  const std::vector<GpuFacts> gpus = (*made)->Gpus();
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].device, "gpu1");
  TickRow row;
  ASSERT_TRUE((*made)->Collect(SteadyTime(1h), row));
  EXPECT_DOUBLE_EQ(row.At("gpu_util_percent", "gpu1"), 97);
  EXPECT_EQ(row.At("gpu_xid_errors", "gpu1"), 0);
  script.gpus[1].hidden = true;
  const auto none = MakeNvidiaCollector(test::FakeNvmlFile(), test::GpuBench::kPatient);
  EXPECT_EQ(none.error().message, "NVML hides all 3 GPUs");
}

}  // namespace
}  // namespace stepscope

// The collector with the fake NVML of tests/support/gpu/fake_nvml.h, through the same dlopen as on
// a node with a driver.

#include "agent/gpu/nvidia.h"

#include <gtest/gtest.h>

#include "core/base/cpu_time.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "tests/agent/gpu/gpu_fixture.h"
#include "tests/support/eventually.h"

namespace stepscope {
namespace {

using test::FakeGpu;
using test::FakeNvmlFile;
using test::GpuBench;
using test::ScriptOf;

TEST(Nvidia, ReadsWhatStandsForAnInstant) {
  GpuBench gpu;
  ASSERT_TRUE(gpu.At(0s));
  EXPECT_DOUBLE_EQ(gpu("gpu_util_percent"), 97);
  EXPECT_DOUBLE_EQ(gpu("gpu_memory_busy_percent"), 48);
  EXPECT_DOUBLE_EQ(gpu("gpu_memory_used_percent"), 75);
  EXPECT_DOUBLE_EQ(gpu("gpu_memory_used_bytes"), 60.0 * (1 << 30));
  EXPECT_DOUBLE_EQ(gpu("gpu_temperature_celsius"), 66);
  EXPECT_DOUBLE_EQ(gpu("gpu_sm_clock_mhz"), 1980);
  EXPECT_DOUBLE_EQ(gpu("gpu_memory_clock_mhz"), 2619);
  EXPECT_DOUBLE_EQ(gpu("gpu_ecc_errors"), 0);
  EXPECT_TRUE(gpu.Missing("gpu_power_watts"));
  EXPECT_TRUE(gpu.Missing("gpu_pcie_send_bytes_per_second"));
}

TEST(Nvidia, TurnsCountersIntoRates) {
  GpuBench gpu;
  ASSERT_TRUE(gpu.At(0s));
  FakeGpu& first = gpu.script.gpus[0];
  first.energy_mj += 325'500;
  first.pcie_sent += 1'000'000;
  first.pcie_received += 3'000'000;
  first.nvlink_sent_kib += 1'000;
  first.nvlink_received_kib += 2'000;
  ASSERT_TRUE(gpu.At(500ms));
  EXPECT_DOUBLE_EQ(gpu("gpu_power_watts"), 651);
  EXPECT_DOUBLE_EQ(gpu("gpu_pcie_send_bytes_per_second"), 2'000'000);
  EXPECT_DOUBLE_EQ(gpu("gpu_pcie_receive_bytes_per_second"), 6'000'000);
  EXPECT_DOUBLE_EQ(gpu("gpu_nvlink_send_bytes_per_second"), 2'048'000);
  EXPECT_DOUBLE_EQ(gpu("gpu_nvlink_receive_bytes_per_second"), 4'096'000);
}

TEST(Nvidia, GivesNoRateWhenACounterWraps) {
  GpuBench gpu;
  gpu.script.gpus[0].pcie_sent = 0xffff'0000;
  ASSERT_TRUE(gpu.At(0s));
  gpu.script.gpus[0].pcie_sent = 10;
  ASSERT_TRUE(gpu.At(1s));
  EXPECT_TRUE(gpu.Missing("gpu_pcie_send_bytes_per_second"));
  EXPECT_DOUBLE_EQ(gpu("gpu_pcie_receive_bytes_per_second"), 0);
  gpu.script.gpus[0].pcie_sent = 1010;
  ASSERT_TRUE(gpu.At(2s));
  EXPECT_DOUBLE_EQ(gpu("gpu_pcie_send_bytes_per_second"), 1000);
}

TEST(Nvidia, TellsWhatHoldsTheClocksDown) {
  struct Case {
    unsigned long long reasons;
    double power, heat;
  };
  GpuBench gpu;
  Duration at{};
  for (const Case& each : {Case{0x1, 0, 0},
                           {0x4, 100, 0},
                           {0x80, 100, 0},
                           {0x88, 100, 0},
                           {0x20, 0, 100},
                           {0x48, 0, 100},
                           {0x8, 0, 100},
                           {0x24, 100, 100}}) {
    gpu.script.gpus[0].reasons = each.reasons;
    ASSERT_TRUE(gpu.At(at += 1s));
    EXPECT_DOUBLE_EQ(gpu("gpu_power_throttle_percent"), each.power) << each.reasons;
    EXPECT_DOUBLE_EQ(gpu("gpu_thermal_throttle_percent"), each.heat) << each.reasons;
  }
}

TEST(Nvidia, TakesTwoSamplesOfTheProcessorsFarEnoughApart) {
  GpuBench gpu;
  gpu.script.gpus[0].gpm_percent = 10;
  ASSERT_TRUE(gpu.At(0s));
  EXPECT_TRUE(gpu.Missing("gpu_sm_active_percent"));
  gpu.script.gpus[0].gpm_percent = 30;
  ASSERT_TRUE(gpu.At(100ms));
  EXPECT_DOUBLE_EQ(gpu("gpu_sm_active_percent"), 20);
  EXPECT_DOUBLE_EQ(gpu("gpu_tensor_active_percent"), 20);
  EXPECT_DOUBLE_EQ(gpu("gpu_dram_active_percent"), 20);
  EXPECT_TRUE(gpu.Missing("gpu_sm_occupancy_percent"));  // the fake cannot tell
  gpu.script.gpus[0].gpm_percent = 90;
  ASSERT_TRUE(gpu.At(150ms));
  EXPECT_TRUE(gpu.Missing("gpu_sm_active_percent"));
  ASSERT_TRUE(gpu.At(1100ms));
  EXPECT_DOUBLE_EQ(gpu("gpu_sm_active_percent"), 60);
}

TEST(Nvidia, TakesTheBytesOfPcieFromTheSampleOfTheProcessors) {
  GpuBench gpu;
  gpu.script.gpm_tells_links = true;
  gpu.script.gpus[0].gpm_percent = 3;
  ASSERT_TRUE(gpu.At(0s) && gpu.At(1s));
  EXPECT_DOUBLE_EQ(gpu("gpu_pcie_send_bytes_per_second"), 3 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(gpu("gpu_nvlink_send_bytes_per_second"), 0);
  gpu.script.gpus[0].calls = 0;
  ASSERT_TRUE(gpu.At(2s));
  // Use, energy, memory, temperature, reasons, the sample, and the fields, both of NVLink.
  EXPECT_EQ(gpu.script.gpus[0].calls, 9u);
}

TEST(Nvidia, ReadsSeldomWhatSeldomChanges) {
  GpuBench gpu;
  ASSERT_TRUE(gpu.At(0s) && gpu.At(500ms));
  EXPECT_FALSE(gpu.Missing("gpu_sm_clock_mhz"));
  ASSERT_TRUE(gpu.At(1s));
  EXPECT_FALSE(gpu.Missing("gpu_util_percent"));
  EXPECT_TRUE(gpu.Missing("gpu_sm_clock_mhz"));
  EXPECT_TRUE(gpu.Missing("gpu_ecc_errors"));
  ASSERT_TRUE(gpu.At(5500ms));
  EXPECT_FALSE(gpu.Missing("gpu_sm_clock_mhz"));
  EXPECT_TRUE(gpu.Missing("gpu_ecc_errors"));
}

TEST(Nvidia, LeavesOutEachMetricThatTheGpuDoesNotHave) {
  struct Case {
    unsigned call;
    std::vector<const char*> metrics;
  };
  const Case kCases[] = {
      {test::kFakeUse, {"gpu_util_percent", "gpu_memory_busy_percent"}},
      {test::kFakeMemory, {"gpu_memory_used_percent", "gpu_memory_total_bytes"}},
      {test::kFakeHeat | test::kFakeClocks, {"gpu_sm_clock_mhz", "gpu_power_throttle_percent"}},
      {test::kFakeEcc, {"gpu_ecc_errors"}},
      {test::kFakeNvlink, {"gpu_nvlink_send_bytes_per_second"}},
      {test::kFakePcie, {"gpu_pcie_receive_bytes_per_second"}},
      {test::kFakeEnergy | test::kFakePower, {"gpu_power_watts"}},
  };
  GpuBench all;
  ASSERT_TRUE(all.At(0s) && all.At(1s));
  const std::size_t most = all.row.size();
  for (const Case& each : kCases) {
    GpuBench gpu;
    gpu.script.gpus[0].refused = each.call;
    ASSERT_TRUE(gpu.At(0s) && gpu.At(1s));
    for (const char* metric : each.metrics) EXPECT_TRUE(gpu.Missing(metric)) << metric;
    EXPECT_FALSE(gpu.Missing("gpu_temperature_celsius"));
    EXPECT_LT(gpu.row.size(), most);
  }
}

TEST(Nvidia, ReadsPowerWhereEnergyIsNotCounted) {
  GpuBench gpu;
  gpu.script.gpus[0].refused = test::kFakeEnergy;
  ASSERT_TRUE(gpu.At(0s));
  EXPECT_DOUBLE_EQ(gpu("gpu_power_watts"), 650);
}

// Each call of the fake takes the CPU time that it took on an H200.
TEST(Nvidia, KeepsWithinItsBudgetWithEightGpusThatCostWhatRealOnesDo) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "what a sanitizer takes counts as what the driver took";
#endif
  GpuBench gpu(8, "fake_nvml", GpuBench::kPatient, true);
  gpu.collector->KeepWithin(0.0003);
  ASSERT_TRUE(gpu.At(0s) && gpu.At(500ms));
  EXPECT_DOUBLE_EQ(gpu("gpu_power_watts", "gpu7"), 650);  // not of the energy, which is dear
  [[maybe_unused]] const Duration before = ProcessCpuTime();
  constexpr int kTicks = 240;
  int powers = 0, processors = 0, bytes = 0;
  for (int i = 2; i < kTicks + 2; ++i) {
    ASSERT_TRUE(gpu.At(i * 500ms));
    powers += gpu.Missing("gpu_power_watts") ? 0 : 1;
    processors += gpu.Missing("gpu_sm_active_percent") ? 0 : 1;
    bytes += gpu.Missing("gpu_pcie_send_bytes_per_second") ? 0 : 1;
  }
#if !defined(__SANITIZE_ADDRESS__)
  // The threads' waking of each other is on top.
  EXPECT_LT(ToSeconds(ProcessCpuTime() - before) / (kTicks * 0.5), 0.0006);
#endif
  EXPECT_EQ(powers, kTicks);
  EXPECT_GE(processors, 2);  // once a minute at least
  EXPECT_GE(bytes, 2);
  const auto slowed = gpu.collector->Slowed();
  const auto is = [&](const char* name) {
    return std::ranges::any_of(slowed, [&](const auto& one) { return one.name == name; });
  };
  EXPECT_TRUE(is("processor counters"));
  EXPECT_TRUE(is("PCIe bytes"));
  EXPECT_FALSE(is("use and power"));
}

TEST(Nvidia, AsksNoMoreForWhatAGpuDoesNotHave) {
  GpuBench gpu;
  const auto calls = [&](Duration at) {
    gpu.script.gpus[0].calls = 0;
    EXPECT_TRUE(gpu.At(at));
    return gpu.script.gpus[0].calls.load();
  };
  ASSERT_TRUE(gpu.At(0s) && gpu.At(1s));
  const unsigned all = calls(2s);
  gpu.script.gpus[0].refused = test::kFakeUse | test::kFakeEnergy | test::kFakeNvlink;
  EXPECT_EQ(calls(3s), all + 1);  // reads the power, because there is no energy
  EXPECT_EQ(calls(4s), all - 4);  // without utilization and NVLink
}

TEST(Nvidia, KnowsThatAGpuInSlicesHasNoUtilisation) {
  GpuBench gpu;
  gpu.script.gpus[0].mig = true;
  ASSERT_TRUE(gpu.At(0s));
  EXPECT_TRUE(gpu.Missing("gpu_util_percent"));
  EXPECT_DOUBLE_EQ(gpu("gpu_memory_used_percent"), 75);
}

TEST(Nvidia, NamesTheInstancesOfAGpuInSlices) {
  test::FakeNvml& script = ScriptOf(FakeNvmlFile());
  script.count = 2;
  script.gpus[1].mig = true;
  const auto made = MakeNvidiaCollector(FakeNvmlFile(), GpuBench::kPatient);
  ASSERT_TRUE(made.ok());
  const std::vector<GpuFacts> gpus = (*made)->Gpus();
  EXPECT_TRUE(gpus[0].instances.empty());
  EXPECT_EQ(gpus[1].instances, (std::vector<std::string>{"MIG-1-1", "MIG-1-2"}));
}

TEST(Nvidia, WorksWithADriverThatKnowsLittle) {
  GpuBench gpu(1, "fake_nvml_old");
  ASSERT_TRUE(gpu.At(0s) && gpu.At(1s));
  EXPECT_DOUBLE_EQ(gpu("gpu_util_percent"), 97);
  EXPECT_DOUBLE_EQ(gpu("gpu_power_watts"), 650);
  EXPECT_DOUBLE_EQ(gpu("gpu_temperature_celsius"), 66);
  EXPECT_EQ(gpu.row.size(), 4u);
}

struct NvidiaLog : testing::Test {
  static void SetUpTestSuite() { StartLog("nvidia_test", LogLevel::kInfo); }
};

TEST_F(NvidiaLog, NamesALostGpuOnceAndGoesOnWithTheOthers) {
  GpuBench gpu(2);
  ASSERT_TRUE(gpu.At(0s));
  gpu.script.gpus[1].lost = true;
  testing::internal::CaptureStderr();
  ASSERT_TRUE(gpu.At(1s) && gpu.At(2s));
  EXPECT_TRUE(gpu.Missing("gpu_util_percent", "gpu1"));
  EXPECT_TRUE(gpu.Missing("gpu_ecc_errors", "gpu1"));
  EXPECT_DOUBLE_EQ(gpu("gpu_util_percent", "gpu0"), 97);
  gpu.script.gpus[1].lost = false;
  ASSERT_TRUE(gpu.At(3s));
  EXPECT_DOUBLE_EQ(gpu("gpu_util_percent", "gpu1"), 97);
  const std::string log = testing::internal::GetCapturedStderr();
  const auto lost = log.find("gpu1: the GPU is lost");
  EXPECT_NE(lost, log.npos);
  EXPECT_EQ(log.find("lost", lost + 21), log.npos) << log;
  EXPECT_NE(log.find("gpu1: the GPU is back"), log.npos);
}

TEST_F(NvidiaLog, NamesAndCountsErrorsOfTheDriver) {
  GpuBench gpu(2);
  ASSERT_TRUE(gpu.At(0s));
  EXPECT_DOUBLE_EQ(gpu("gpu_xid_errors", "gpu1"), 0);
  testing::internal::CaptureStderr();  // before: a read that is slow may still be under way
  gpu.script.gpus[1].xid = 79;
  ASSERT_TRUE(gpu.At(1s) && gpu.At(3s));
  EXPECT_DOUBLE_EQ(gpu("gpu_xid_errors", "gpu1"), 1);
  EXPECT_DOUBLE_EQ(gpu("gpu_xid_errors", "gpu0"), 0);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("gpu1: the driver reports XID 79"),
            std::string::npos);
}

TEST(Nvidia, ReadsEightGpus) {
  GpuBench gpu(8);
  for (unsigned i = 0; i < 8; ++i) gpu.script.gpus[i].util = 10 * i;
  ASSERT_TRUE(gpu.At(0s) && gpu.At(1s));
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_DOUBLE_EQ(gpu("gpu_util_percent", Format("gpu{}", i)), 10 * i);
  }
  EXPECT_EQ(gpu.row.size(), 8 * (kGpuMetrics - 2));  // no occupancy, and no speed of the link
}

TEST(Nvidia, SaysWhatTheGpusAre) {
  GpuBench gpu(2);
  const std::vector<GpuFacts> gpus = gpu.collector->Gpus();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[1].device, "gpu1");
  EXPECT_EQ(gpus[1].name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpus[1].memory_bytes, 80ull << 30);
  EXPECT_EQ(gpus[1].uuid, "GPU-00000001");
  EXPECT_EQ(gpus[1].pci_address, "00000000:11:00.0");
  EXPECT_EQ(gpus[1].mig, false);
}

TEST(Nvidia, IsAbsentWithoutLibraryDriverOrDevice) {
  const auto reason = [](const std::string& file) {
    const auto made = MakeNvidiaCollector(file, GpuBench::kPatient);
    return made ? "there" : made.error().message;
  };
  EXPECT_EQ(reason("/nowhere/libnvidia-ml.so.1"), "libnvidia-ml.so.1 not found");
  EXPECT_NE(reason("/proc/self/status").find("/proc/self/status"), std::string::npos);
  EXPECT_EQ(reason("libc.so.6"), "libnvidia-ml.so.1 is no NVML that the agent knows");
  test::FakeNvml& script = ScriptOf(FakeNvmlFile());
  script.init_result = 9;
  EXPECT_EQ(reason(FakeNvmlFile()), "NVML: Driver Not Loaded");
  script.init_result = 0;
  script.count = 0;
  EXPECT_EQ(reason(FakeNvmlFile()), "NVML knows no device");
}

TEST(Nvidia, IsAskedWhenATickBeginsSoThatNobodyWaits) {
  GpuBench bench;
  ASSERT_TRUE(bench.At(0s));
  const unsigned before = bench.script.gpus[0].calls;
  bench.script.gpus[0].util = 41;
  bench.collector->Begin(SteadyTime(1h) + 500ms);
  EXPECT_TRUE(Eventually([&] { return bench.script.gpus[0].calls > before; }));
  ASSERT_TRUE(bench.At(500ms));
  EXPECT_DOUBLE_EQ(bench("gpu_util_percent"), 41);
}

constexpr NvmlPatience kHasty{10s, 20ms, 20ms};

TEST(Nvidia, HoldsNobodyUpWhileTheDriverHangs) {
  GpuBench hasty(1, "fake_nvml", kHasty);
  ASSERT_TRUE(Eventually([&] { return hasty.At(0s).ok(); }));
  hasty.script.hangs = true;
  EXPECT_TRUE(hasty.At(1s));
  EXPECT_DOUBLE_EQ(hasty("gpu_util_percent"), 97);  // not old yet
  EXPECT_TRUE(hasty.At(2s));
  const Status hung = hasty.At(2500ms);
  ASSERT_FALSE(hung);
  EXPECT_EQ(hung.error().message, "NVML has not answered for 2.5 s");
  EXPECT_TRUE(hasty.Missing("gpu_util_percent"));
  const auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(hasty.At(3s + i * 1ms));
  EXPECT_LT(std::chrono::steady_clock::now() - before, 1s);  // waits for the first one only
  hasty.script.hangs = false;
  EXPECT_TRUE(Eventually([&] { return hasty.At(4s).ok(); }));
}

TEST(Nvidia, SaysWhyADriverThatTookLongDidNotStart) {
  test::FakeNvml& script = ScriptOf(FakeNvmlFile());
  script.hangs = true;
  script.init_result = 9;
  const auto made = MakeNvidiaCollector(FakeNvmlFile(), {20ms, 20ms, 10s});
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE((*made)->Starting());
  EXPECT_FALSE((*made)->Ended());
  script.hangs = false;
  EXPECT_TRUE(Eventually([&] { return !(*made)->Starting(); }));
  EXPECT_TRUE((*made)->Ended());
  TickRow row;
  EXPECT_EQ((*made)->Collect(SteadyTime(1h), row).error().message, "NVML: Driver Not Loaded");
}

TEST(Nvidia, StartsAndEndsWithADriverThatHangs) {
  test::FakeNvml& script = ScriptOf(FakeNvmlFile());
  script.hangs = true;
  auto made = MakeNvidiaCollector(FakeNvmlFile(), {20ms, 20ms, 20ms});
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE((*made)->Gpus().empty());
  TickRow row;
  EXPECT_EQ((*made)->Collect(SteadyTime(1h), row).error().message, "NVML has not answered yet");
  script.hangs = false;
  EXPECT_TRUE(Eventually([&] { return (*made)->Collect(SteadyTime(1h) + 1s, row).ok(); }));
  EXPECT_DOUBLE_EQ(row.At("gpu_util_percent", "gpu0"), 97);
  EXPECT_EQ((*made)->Gpus().size(), 1u);
  script.hangs = true;
  EXPECT_TRUE((*made)->Collect(SteadyTime(1h) + 2s, row).ok());
  EXPECT_TRUE((*made)->Collect(SteadyTime(1h) + 3s, row).ok());
  EXPECT_FALSE((*made)->Collect(SteadyTime(1h) + 4s, row).ok());
  made->reset();
  script.hangs = false;
}

}  // namespace
}  // namespace stepscope

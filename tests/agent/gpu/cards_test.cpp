// AMD and Intel cards in trees of files as their drivers show them.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "agent/gpu/drm_card.h"
#include "agent/gpu/gpu.h"
#include "agent/gpu/nvml_library.h"
#include "core/base/text.h"
#include "tests/agent/gpu/gpu_fixture.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using test::FakeRoot;

constexpr SteadyTime kStart{1h};
constexpr auto kDrm = "/sys/class/drm/";

void WriteCard(const FakeRoot& root, const std::string& name, const std::string& vendor,
               const std::string& address) {
  const std::string device = kDrm + name + "/device/";
  root.Write(device + "vendor", vendor + "\n");
  root.Write(device + "device", "0x74a1\n");
  root.Write(device + "uevent", "DRIVER=any\nPCI_SLOT_NAME=" + address + "\n");
}

void WriteAmd(const FakeRoot& root, const std::string& name, int busy) {
  WriteCard(root, name, "0x1002", "0000:c1:00.0");
  const std::string device = kDrm + name + "/device/";
  root.Write(device + "gpu_busy_percent", Format("{}\n", busy));
  root.Write(device + "mem_info_vram_total", "206141652992\n");
  root.Write(device + "mem_info_vram_used", "51535413248\n");
  root.Write(device + "power/runtime_status", "active\n");
  root.Write(device + "hwmon/hwmon4/power1_input", "742000000\n");
  root.Write(device + "hwmon/hwmon4/temp2_input", "61000\n");
  root.Write(device + "hwmon/hwmon4/freq1_input", "2100000000\n");
}

struct CardBench {
  explicit CardBench(Result<std::unique_ptr<Collector>> made) {
    EXPECT_TRUE(made.ok());
    if (made) collector = std::move(*made);
  }
  double At(Duration since_start, std::string_view metric, std::string_view device) {
    row.Clear();
    EXPECT_TRUE(collector->Collect(kStart + since_start, row));
    return row.At(metric, device);
  }
  TickRow row;
  std::unique_ptr<Collector> collector;
};

TEST(Amd, ReadsWhatTheDriverShows) {
  FakeRoot root;
  WriteAmd(root, "card1", 83);
  root.Write(std::string(kDrm) + "card1-DP-1/status", "connected\n");
  CardBench amd(MakeAmdCollector(root.path()));
  EXPECT_DOUBLE_EQ(amd.At(0s, "gpu_util_percent", "card1"), 83);
  EXPECT_DOUBLE_EQ(amd.row.At("gpu_memory_used_percent", "card1"), 25);
  EXPECT_DOUBLE_EQ(amd.row.At("gpu_power_watts", "card1"), 742);
  EXPECT_DOUBLE_EQ(amd.row.At("gpu_temperature_celsius", "card1"), 61);
  EXPECT_DOUBLE_EQ(amd.row.At("gpu_sm_clock_mhz", "card1"), 2100);
  EXPECT_EQ(amd.row.size(), 7u);  // none for missing files
  const auto gpus = amd.collector->Gpus();
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].name, "0x1002:0x74a1");
  EXPECT_EQ(gpus[0].memory_bytes, 206141652992u);
  EXPECT_EQ(gpus[0].pci_address, "0000:c1:00.0");
}

TEST(Amd, HasTheNameThatRocmKnowsItBy) {
  FakeRoot root;
  WriteAmd(root, "card1", 83);
  root.Write(std::string(kDrm) + "card1/device/unique_id", "18f68e602b8a790f\n");
  CardBench amd(MakeAmdCollector(root.path()));
  EXPECT_EQ(amd.collector->Gpus().at(0).uuid, "GPU-18f68e602b8a790f");
}

TEST(Amd, TellsWhatTheLinkCanCarry) {
  FakeRoot root;
  WriteAmd(root, "card1", 83);
  const std::string device = std::string(kDrm) + "card1/device/";
  root.Write(device + "current_link_speed", "32.0 GT/s PCIe\n");
  root.Write(device + "current_link_width", "16\n");
  CardBench amd(MakeAmdCollector(root.path()));
  constexpr auto kLink = "gpu_pcie_link_bytes_per_second";
  EXPECT_NEAR(amd.At(0s, kLink, "card1"), 63.0e9, 0.1e9);
  root.Write(device + "current_link_speed", "2.5 GT/s PCIe\n");  // slower, because it idles
  EXPECT_DOUBLE_EQ(amd.At(1s, kLink, "card1"), 4e9);
  for (const char* odd : {"Unknown\n", "", "-5 GT/s\n", "nan\n"}) {
    root.Write(device + "current_link_speed", odd);
    EXPECT_TRUE(std::isnan(amd.At(2s, kLink, "card1"))) << odd;
  }
  EXPECT_DOUBLE_EQ(amd.row.At("gpu_util_percent", "card1"), 83);
}

TEST(Amd, LetsACardSleep) {
  FakeRoot root;
  WriteAmd(root, "card0", 5);
  CardBench amd(MakeAmdCollector(root.path()));
  EXPECT_DOUBLE_EQ(amd.At(0s, "gpu_util_percent", "card0"), 5);
  root.Write(std::string(kDrm) + "card0/device/power/runtime_status", "suspended\n");
  EXPECT_TRUE(std::isnan(amd.At(1s, "gpu_util_percent", "card0")));
}

TEST(Amd, ACardThatGoesStopsNoOtherAndComesAgain) {
  FakeRoot root;
  WriteAmd(root, "card0", 5);
  WriteAmd(root, "card1", 6);
  CardBench amd(MakeAmdCollector(root.path()));
  EXPECT_DOUBLE_EQ(amd.At(0s, "gpu_util_percent", "card1"), 6);
  const std::string card = root.path() + kDrm + "card1";
  for (const auto& each : std::filesystem::recursive_directory_iterator(card)) {
    if (each.is_regular_file())
      std::filesystem::resize_file(each, 0);  // an open file becomes unreadable
  }
  std::filesystem::remove_all(card);
  EXPECT_DOUBLE_EQ(amd.At(1s, "gpu_util_percent", "card0"), 5);
  EXPECT_TRUE(std::isnan(amd.row.At("gpu_util_percent", "card1")));
  EXPECT_TRUE(std::isnan(amd.row.At("gpu_power_watts", "card1")));

  WriteAmd(root, "card1", 7);
  amd.At(20s, "gpu_util_percent", "card1");  // searched for now
  EXPECT_DOUBLE_EQ(amd.At(21s, "gpu_util_percent", "card1"), 7);
  EXPECT_DOUBLE_EQ(amd.row.At("gpu_power_watts", "card1"), 742);
}

TEST(Amd, LeavesOutWhatAFileDoesNotSay) {
  FakeRoot root;
  WriteAmd(root, "card0", 5);
  CardBench amd(MakeAmdCollector(root.path()));
  root.Write(std::string(kDrm) + "card0/device/gpu_busy_percent", "");
  EXPECT_TRUE(std::isnan(amd.At(0s, "gpu_util_percent", "card0")));
  EXPECT_DOUBLE_EQ(amd.row.At("gpu_power_watts", "card0"), 742);
}

TEST(Amd, LeavesOutGraphicsInsideAProcessor) {
  FakeRoot root;
  WriteAmd(root, "card0", 5);
  root.Write(std::string(kDrm) + "card0/device/mem_info_vram_total", "536870912\n");
  EXPECT_FALSE(MakeAmdCollector(root.path()).ok());
}

TEST(Intel, CountsTheTimeInWhichI915DoesNotSleep) {
  FakeRoot root;
  WriteCard(root, "card0", "0x8086", "0000:03:00.0");
  const auto write = [&](int asleep_ms, long energy_uj) {
    root.Write(std::string(kDrm) + "card0/gt/gt0/rc6_residency_ms", Format("{}\n", asleep_ms));
    root.Write(std::string(kDrm) + "card0/gt/gt0/rps_act_freq_mhz", "2050\n");
    root.Write(std::string(kDrm) + "card0/device/hwmon/hwmon2/energy1_input",
               Format("{}\n", energy_uj));
  };
  write(1000, 0);
  CardBench intel(MakeIntelCollector(root.path()));
  EXPECT_TRUE(std::isnan(intel.At(0s, "gpu_util_percent", "card0")));
  write(1100, 75'000'000);
  EXPECT_DOUBLE_EQ(intel.At(500ms, "gpu_util_percent", "card0"), 80);
  EXPECT_DOUBLE_EQ(intel.row.At("gpu_power_watts", "card0"), 150);
  EXPECT_DOUBLE_EQ(intel.row.At("gpu_sm_clock_mhz", "card0"), 2050);
}

TEST(Intel, ReadsXe) {
  FakeRoot root;
  WriteCard(root, "card3", "0x8086", "0000:03:00.0");
  const std::string tile = std::string(kDrm) + "card3/device/tile0/gt0/";
  root.Write(tile + "gtidle/idle_residency_ms", "0\n");
  root.Write(tile + "freq0/act_freq", "1550\n");
  CardBench intel(MakeIntelCollector(root.path()));
  EXPECT_DOUBLE_EQ(intel.At(0s, "gpu_sm_clock_mhz", "card3"), 1550);
  root.Write(tile + "gtidle/idle_residency_ms", "1000\n");
  EXPECT_DOUBLE_EQ(intel.At(1s, "gpu_util_percent", "card3"), 0);
}

TEST(Intel, CountsItsTiles) {
  FakeRoot root;
  WriteCard(root, "card0", "0x8086", "0000:03:00.0");
  WriteCard(root, "card1", "0x8086", "0000:04:00.0");
  for (const char* tile : {"tile0/gt0/", "tile0/gt1/", "tile1/gt0/"})
    root.Write(Format("{}card1/device/{}freq0/act_freq", kDrm, tile), "1550\n");
  CardBench intel(MakeIntelCollector(root.path()));
  const auto gpus = intel.collector->Gpus();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].tiles, 1u);
  EXPECT_EQ(gpus[1].tiles, 2u);
}

TEST(Intel, LeavesOutGraphicsInsideAProcessor) {
  FakeRoot root;
  WriteCard(root, "card0", "0x8086", "0000:00:02.0");
  EXPECT_FALSE(MakeIntelCollector(root.path()).ok());
}

TEST(DrmCards, AreInTheOrderOfTheirNumbers) {
  FakeRoot root;
  for (const char* name : {"card10", "card2", "card2-HDMI-A-1", "renderD128", "cardx", "version"}) {
    WriteCard(root, name, "0x1002", "");
  }
  const auto cards = FindDrmCards(root.path());
  ASSERT_EQ(cards.size(), 2u);
  EXPECT_EQ(cards[0].name, "card2");
  EXPECT_EQ(cards[1].name, "card10");
}

TEST(Gpus, ACardOfAnotherVendorIsNone) {
  FakeRoot root;
  WriteCard(root, "card0", "0x1a03", "0000:03:00.0");  // a management controller's
  EXPECT_FALSE(HasDrmCards(root.path()));
  WriteCard(root, "card1", "0x8086", "0000:04:00.0");
  EXPECT_TRUE(HasDrmCards(root.path()));
}

TEST(Gpus, HaveOneReasonForNotBeingThere) {
  const FakeRoot root;
  root.Write(std::string("/usr/lib/") + kNvmlName, "no library");  // hides this machine's library
  TickRow row;
  const auto made = MakeGpuCollector(root.path(), row);
  ASSERT_FALSE(made.ok());
  EXPECT_TRUE(made.error().message.starts_with("no GPU: ")) << made.error().message;
  EXPECT_TRUE(made.error().message.ends_with("; no AMD or Intel card"));
}

TEST(Gpus, OfNvidiaAreFoundWhereDistributionsKeepTheLibrary) {
  test::ScriptOf(test::FakeNvmlFile()).count = 1;
  for (const std::string folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"}) {
    const FakeRoot root;
    root.MakeFolder(folder);
    std::filesystem::create_symlink(test::FakeNvmlFile(), root.path() + folder + "/" + kNvmlName);
    TickRow row;
    const auto made = MakeGpuCollector(root.path(), row);
    ASSERT_TRUE(made.ok()) << folder << ": " << made.error().message;
    EXPECT_EQ((*made)->Gpus().size(), 1u) << folder;
  }
}

TEST(Gpus, AreReadBesideEachOther) {
  FakeRoot root;
  WriteAmd(root, "card0", 5);
  WriteAmd(root, "card1", 6);
  WriteCard(root, "card2", "0x8086", "0000:03:00.0");
  TickRow row;
  const auto made = MakeGpuCollector(root.path(), row);
  ASSERT_TRUE(made.ok());
  // A tick of a busy machine may be too early for its reading.
  for (int tick = 1; tick < 100 && std::isnan(row.At("gpu_util_percent", "card1")); ++tick) {
    (void)(*made)->Collect(kStart + tick * 500ms, row);
  }
  EXPECT_DOUBLE_EQ(row.At("gpu_util_percent", "card1"), 6);
  EXPECT_GE((*made)->Gpus().size(), 3u);
}

TEST(Gpus, OfNvidiaMayComeBesideAnIntelCard) {
  test::ScriptOf(test::FakeNvmlFile()).count = 2;
  FakeRoot root;
  WriteCard(root, "card0", "0x8086", "0000:03:00.0");
  root.Write(std::string("/usr/lib/") + kNvmlName, "no library");  // hides this machine's library
  TickRow row;
  const auto made = MakeGpuCollector(root.path(), row);
  ASSERT_TRUE(made.ok());
  (void)(*made)->Collect(kStart, row);
  EXPECT_EQ((*made)->Shortfall(), "") << "a node without NVIDIA misses nothing";
  root.MakeFolder("/usr/lib64");
  std::filesystem::create_symlink(test::FakeNvmlFile(), root.path() + "/usr/lib64/" + kNvmlName);
  Duration since_start = 60s;
  EXPECT_TRUE(Eventually([&] {
    (void)(*made)->Collect(kStart + (since_start += 500ms), row);
    return row.At("gpu_util_percent", "gpu1") == 97;
  }));
}

}  // namespace
}  // namespace stepscope

// A file of /sys whose driver does not answer: a FIFO, whose reader waits for a writer.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <thread>

#include "agent/gpu/nvml_library.h"
#include "agent/sample/sampler.h"
#include "core/base/clock.h"
#include "core/base/descriptor.h"
#include "core/base/log.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using test::FakeClock;
using test::FakeRoot;

struct HungSource {
  // The path of the file, and the name of its source.
  HungSource(const std::string& file, std::string_view source) : name(file), of(source) {
    root.Write(std::string("/usr/lib/") + kNvmlName,
               "no library");  // hides this machine's library
    root.Write("/proc/loadavg", "1.50 1 1 1/1 1\n");
    root.Write("/sys/class/drm/card1/device/vendor", "0x1002\n");
    root.Write("/sys/class/drm/card1/device/mem_info_vram_total", "206141652992\n");
    root.Write("/sys/class/drm/card1/device/gpu_busy_percent", "7\n");
    root.Write("/sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
    std::filesystem::remove(root.path() + name);
    EXPECT_EQ(mkfifo((root.path() + name).c_str(), 0600), 0);
  }

  // Replaces the FIFO by a file, and lets readers of the FIFO go on.
  void Answer(std::string_view text) {
    std::filesystem::rename(root.path() + name, root.path() + "/fifo");
    root.Write(name, text);
    waiting = Descriptor(open((root.path() + "/fifo").c_str(), O_RDWR | O_CLOEXEC));
  }

  bool IsAbsent(const Sampler& sampler) const {
    for (const AbsentSource& absent : sampler.Absent()) {
      if (absent.source == of && absent.reason.ends_with("the driver does not answer")) return true;
    }
    return false;
  }

  FakeRoot root;
  FakeClock clock;
  std::string name;
  std::string_view of;
  Descriptor waiting;
};

int Count(const std::string& text, std::string_view word) {
  int count = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
  return count;
}

// Ticks until `done` is true; false after a minute. Only real time ends the patience with a driver.
template <typename Done>
bool Ticks(Sampler& sampler, FakeClock& clock, Done&& done) {
  const SteadyTime until = SystemClock().Steady() + 1min;
  while (SystemClock().Steady() < until) {
    clock.Advance(500ms);
    if (done(sampler.Sample())) return true;
    std::this_thread::yield();
  }
  return false;
}

void HangAndRecover(HungSource& hung, std::string_view text, std::string_view metric,
                    std::string_view device) {
  testing::internal::CaptureStderr();
  Sampler sampler(hung.root.path(), hung.clock);
  const auto is_absent = [&](const TickRow& row) {
    EXPECT_DOUBLE_EQ(row.At("load_1m"), 1.5);
    EXPECT_TRUE(std::isnan(row.At(metric, device)));
    return hung.IsAbsent(sampler);
  };
  EXPECT_TRUE(Ticks(sampler, hung.clock, is_absent));
  for (int i = 0; i < 10; ++i) EXPECT_DOUBLE_EQ(sampler.Sample().At("load_1m"), 1.5);
  hung.Answer(text);
  EXPECT_TRUE(Ticks(sampler, hung.clock,
                    [&](const TickRow& row) { return !std::isnan(row.At(metric, device)); }));
  EXPECT_FALSE(hung.IsAbsent(sampler));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(Count(said, std::string("no ") + std::string(hung.of) + " samples for now"), 1) << said;
  EXPECT_EQ(Count(said, std::string(hung.of) + " samples again"), 1) << said;
}

struct HungSourceTest : testing::Test {
  static void SetUpTestSuite() { StartLog("hung_source_test", LogLevel::kInfo); }
};

TEST_F(HungSourceTest, OfACardHoldsUpNoTick) {
  HungSource hung("/sys/class/drm/card1/device/gpu_busy_percent", "gpu");
  HangAndRecover(hung, "7\n", "gpu_util_percent", "card1");
}

TEST_F(HungSourceTest, OfAnAdapterHoldsUpNoTick) {
  HungSource hung("/sys/class/infiniband/mlx5_0/ports/1/rate", "rdma");
  HangAndRecover(hung, "400 Gb/sec (4X NDR)\n", "rdma_link_bytes_per_second", "mlx5_0:1");
}

}  // namespace
}  // namespace stepscope

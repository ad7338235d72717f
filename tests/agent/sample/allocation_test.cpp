// Nothing is allocated between two ticks: sampling costs the same after a week as at the start.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "agent/sample/sampler.h"
#include "core/base/text.h"
#include "tests/agent/gpu/gpu_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_root.h"

namespace {

std::atomic<bool> counting = false;
std::atomic<int> allocations = 0;

void* Allocate(std::size_t size) {
  if (counting) ++allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

// Of all threads of this program.
void* operator new(std::size_t size) {
  return Allocate(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace stepscope {
namespace {

using test::FakeClock;
using test::FakeNvmlFile;
using test::FakeRoot;

void WriteNode(const FakeRoot& root) {
  root.Write("/proc/stat", "cpu  1 0 0 9\ncpu0 1 0 0 9\ncpu1 0 0 0 9\n");
  root.Write("/proc/meminfo", "MemTotal: 100 kB\nMemAvailable: 40 kB\n");
  root.Write("/proc/loadavg", "1.50 1 1 1/1 1\n");
  root.Write("/proc/net/dev", "eth0: 1000 0 0 0 0 0 0 0 1000 0\n");
  root.MakeFolder("/sys/block/sda/device");
  root.Write("/proc/diskstats", "8 0 sda 0 0 0 0 0 0 0 0 0 0 0\n");
  root.Write("/proc/vmstat", "pgfault 1\npgmajfault 1\noom_kill 0\n");
  root.Write("/proc/net/snmp", "Tcp: RetransSegs\nTcp: 5\n");
  root.Write(
      "/proc/self/mountstats",
      "device a:/b mounted on /c with fstype nfs4\n\tbytes: 1 1 1 1 1 1\n\tper-op statistics\n"
      "\tREAD: 1 1 1 1 1 1 1 1\n");
  root.Write("/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "7\n");
  root.Write("/sys/class/net/eth0/speed", "10000\n");
  root.Write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
  root.Write("/proc/self/cgroup", "0::/\n");
  root.Write("/sys/fs/cgroup/memory.current", "4096\n");
  root.MakeFolder("/usr/lib64");
  std::filesystem::create_symlink(FakeNvmlFile(), root.path() + "/usr/lib64/" + kNvmlName);
  root.Write("/sys/class/drm/card1/device/vendor", "0x1002\n");
  root.Write("/sys/class/drm/card1/device/mem_info_vram_total", "206141652992\n");
  root.Write("/sys/class/drm/card1/device/gpu_busy_percent", "7\n");
}

TEST(Sampling, AllocatesNothingAfterItsStart) {
  FakeRoot root;
  FakeClock clock;
  WriteNode(root);
  test::ScriptOf(FakeNvmlFile()).count = 8;
  Sampler sampler(root.path(), clock);
  for (int i = 0; i < 25; ++i) {  // until the slowest of them was read twice
    clock.Advance(500ms);
    sampler.Sample();
  }
  ASSERT_DOUBLE_EQ(sampler.Sample().At("gpu_util_percent", "gpu7"), 97);
  ASSERT_DOUBLE_EQ(sampler.Sample().At("gpu_util_percent", "card1"), 7);
  allocations = 0;
  counting = true;
  for (int i = 0; i < 100; ++i) {
    clock.Advance(500ms);
    sampler.Sample();
  }
  counting = false;
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace stepscope

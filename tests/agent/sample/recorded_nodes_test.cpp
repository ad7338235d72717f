// Nodes that these tests do not run on, as public descriptions show their /proc and /sys:
// tests/agent/sample/nodes. docs/agent.md lists what was never met on hardware.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "agent/sample/sampler.h"
#include "core/base/text.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using test::FakeClock;
using test::FakeRoot;

// A file of nodes/: lines before the first "@ PATH" are for people, what follows one is that file,
// and behind "@@" is what the files have become.
struct RecordedNode {
  explicit RecordedNode(const std::string& name) {
    std::ifstream file(Format("{}/tests/agent/sample/nodes/{}.tree", STEPSCOPE_SOURCE_DIR, name));
    EXPECT_TRUE(file.good()) << name;
    std::string line, path, text;
    const auto keep = [&] {
      if (!path.empty()) (later ? after : before).emplace_back(path, text);
      path.clear();
      text.clear();
    };
    while (std::getline(file, line)) {
      if (line.starts_with("@@")) {
        keep();
        later = true;
      } else if (line.starts_with("@ ")) {
        keep();
        path = line.substr(2);
      } else {
        text += line + "\n";
      }
    }
    keep();
    for (const auto& [each, content] : before) root.Write(each, content);
    sampler.emplace(root.path(), clock);
  }

  // Goes on for 22 s of ticks, in which the files change once, and keeps the greatest value of each
  // series, and what a rate sums up to.
  void GoOn() {
    for (int tick = 0; tick < 44; ++tick) {
      if (tick == 10) {
        for (const auto& [path, text] : after) root.Write(path, text);
      }
      clock.Advance(500ms);
      Take(clock.Steady());
    }
  }

  void Take(SteadyTime now) {
    const TickRow& row = sampler->Sample();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row.Has(i)) continue;
      const SeriesName& name = row.series()[i];
      const double value = row.At(name.metric, name.device);
      Seen& seen = all.try_emplace({name.metric, name.device}, Seen{value, 0, begun}).first->second;
      seen.greatest = std::max(seen.greatest, value);
      seen.sum += value * ToSeconds(now - std::exchange(seen.at, now));
    }
  }

  double operator()(const std::string& metric, const std::string& device = "") const {
    const auto found = all.find({metric, device});
    return found == all.end() ? std::nan("") : found->second.greatest;
  }
  double SumOf(const std::string& metric, const std::string& device = "") const {
    const auto found = all.find({metric, device});
    return found == all.end() ? std::nan("") : found->second.sum;
  }

  struct Seen {
    double greatest = 0, sum = 0;
    SteadyTime at{};
  };

  FakeRoot root;
  FakeClock clock;
  std::optional<Sampler> sampler;
  bool later = false;
  std::vector<std::pair<std::string, std::string>> before, after;
  SteadyTime begun = clock.Steady();
  std::map<std::pair<std::string, std::string>, Seen> all;
};

TEST(RecordedNodes, AmdWithInfiniBandInSlurm) {
  RecordedNode node("amd_mi300x_slurm");
  node.GoOn();
  EXPECT_DOUBLE_EQ(node("gpu_util_percent", "card1"), 94);
  EXPECT_DOUBLE_EQ(node("gpu_memory_busy_percent", "card1"), 31);
  EXPECT_DOUBLE_EQ(node("gpu_memory_used_percent", "card1"), 75);
  EXPECT_DOUBLE_EQ(node("gpu_power_watts", "card1"), 688);
  EXPECT_DOUBLE_EQ(node("gpu_temperature_celsius", "card1"), 63);
  EXPECT_DOUBLE_EQ(node("gpu_sm_clock_mhz", "card1"), 2079);
  EXPECT_NEAR(node("gpu_pcie_link_bytes_per_second", "card1"), 63e9, 1e8);
  ASSERT_EQ(node.sampler->Gpus().size(), 1u);
  EXPECT_EQ(node.sampler->Gpus()[0].pci_address, "0000:05:00.0");
  EXPECT_DOUBLE_EQ(node("rdma_link_bytes_per_second", "mlx5_0:1"), 50e9);
  EXPECT_GT(node("rdma_receive_bytes_per_second", "mlx5_0:1"), 0);
  EXPECT_GT(node("rdma_retransmits_per_second", "mlx5_0:1"), 0);
  EXPECT_TRUE(std::isnan(node("rdma_errors_per_second", "mlx5_0:1")));
  EXPECT_DOUBLE_EQ(node("cgroup_memory_bytes"), 96'636'764'160);
  EXPECT_DOUBLE_EQ(node("cgroup_memory_anon_bytes"), 42'949'672'960);
  EXPECT_DOUBLE_EQ(node("cgroup_memory_limit_bytes"), 206'158'430'208);
  EXPECT_NEAR(node.SumOf("cgroup_cpu_percent"), 100 * 80, 1);  // 80 s of CPU time
  EXPECT_DOUBLE_EQ(node("memory_used_percent"), 5);
}

TEST(RecordedNodes, IntelInKubernetes) {
  RecordedNode node("intel_max_kubernetes");
  node.GoOn();
  EXPECT_DOUBLE_EQ(node("gpu_util_percent", "card1"), 100);
  EXPECT_DOUBLE_EQ(node("gpu_temperature_celsius", "card1"), 58);
  EXPECT_DOUBLE_EQ(node("gpu_sm_clock_mhz", "card1"), 1550);
  EXPECT_GT(node("gpu_power_watts", "card1"), 0);
  EXPECT_DOUBLE_EQ(node("cgroup_throttled_percent"), 90);  // as the pod's group counts
  EXPECT_NEAR(node.SumOf("cgroup_cpu_percent"), 100 * 40, 1);
  EXPECT_DOUBLE_EQ(node("cgroup_memory_anon_bytes"), 8'589'934'592);
  EXPECT_DOUBLE_EQ(node("cgroup_memory_limit_bytes"), 34'359'738'368);
  EXPECT_DOUBLE_EQ(node("cgroup_oom_kills"), 1);
}

TEST(RecordedNodes, NfsInSlurmWithVersion1) {
  RecordedNode node("nfs_slurm_version1");
  node.GoOn();
  EXPECT_NEAR(node.SumOf("nfs_read_bytes_per_second", "/data"), 1'048'576'000, 1e4);
  EXPECT_DOUBLE_EQ(node("nfs_read_wait_seconds", "/data"), 0.0051);
  EXPECT_NEAR(node.SumOf("cgroup_cpu_percent"), 100 * 40, 1);
  EXPECT_DOUBLE_EQ(node("cgroup_memory_bytes"), 25'769'803'776);
  EXPECT_DOUBLE_EQ(node("cgroup_memory_anon_bytes"), 8'589'934'592);
  EXPECT_DOUBLE_EQ(node("cgroup_memory_limit_bytes"), 68'719'476'736);
}

}  // namespace
}  // namespace stepscope

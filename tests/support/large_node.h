#pragma once

#include <string>

#include "core/base/text.h"
#include "tests/support/fake_root.h"

// Files of a node with 192 cores, 8 fast disks and 8 adapters of InfiniBand after `tick` half
// seconds.
namespace stepscope::test {

inline std::string LargeStat(int cores, int tick) {
  const auto times = [&](std::int64_t share) {
    const std::int64_t since = 90'000'000 + 50 * tick;
    return Format("{} {} {} {} {} 0 {} 0 0 0\n", share * since / 2, 1200 * share,
                  share * since / 10, share * since / 3, 4000 * share, 900 * share);
  };
  std::string text = "cpu  " + times(cores);
  for (int core = 0; core < cores; ++core) text += Format("cpu{} ", core) + times(1);
  text += Format("intr {}", 90'000'000'000 + tick);
  for (int i = 0; i < 5000; ++i) text += i % 7 == 0 ? " 81234567" : " 0";
  return text + Format(
                    "\nctxt {}\nbtime 1795265509\nprocesses 1331657\nprocs_running 97\n"
                    "procs_blocked 3\nsoftirq 98974510 0 5998927 8 51810942 10584127 0 103\n",
                    50'000'000'000 + 300'000ll * tick);
}

inline std::string LargeDisk(int tick) {
  return Format("{0} 7 {1} {0} {0} 9 {1} {0} 0 {0} {1} 0 0 0 0 0 0\n", 900'000 + tick,
                70'000'000 + 64 * tick);
}

inline std::string LargeNetwork(int tick) {
  std::string text = "Inter-| Receive | Transmit\n face |bytes packets\n";
  for (int port = 0; port < 10; ++port) {
    text += Format("  eth{}: {} {} 0 0 0 0 0 0 {} {} 0 0 0 0 0 0\n", port, 7'000'000'000 + tick,
                   9'000'000 + tick, 6'000'000'000 + tick, 8'000'000 + tick);
  }
  return text;
}

inline void WriteLargeTexts(const FakeRoot& root, int cores, int tick) {
  root.Write("/proc/stat", LargeStat(cores, tick));
  for (int disk = 0; disk < 8; ++disk) {
    root.Write(Format("/sys/block/nvme{}n1/stat", disk), LargeDisk(tick));
  }
  root.Write("/proc/net/dev", LargeNetwork(tick));
}

inline void WriteLargeNode(const FakeRoot& root, int cores) {
  WriteLargeTexts(root, cores, 0);
  std::string disks;
  for (int disk = 0; disk < 8; ++disk) {
    root.MakeFolder(Format("/sys/block/nvme{}n1/device", disk));
    disks += Format("259 {0} nvme{1}n1 0\n259 {0} nvme{1}n1p1 0\n", disk, disk);
  }
  root.Write("/proc/diskstats", disks);
  for (int core = 0; core < cores; ++core) {
    root.Write(Format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", core), "2400000\n");
  }
  for (int adapter = 0; adapter < 8; ++adapter) {
    const std::string port = Format("/sys/class/infiniband/mlx5_{}/ports/1/", adapter);
    root.Write(port + "rate", "400 Gb/sec (4X NDR)\n");
    for (const char* count : {"port_rcv_data", "port_xmit_data", "port_rcv_packets",
                              "port_xmit_packets", "port_xmit_wait", "symbol_error"}) {
      root.Write(port + "counters/" + count, "81234567890\n");
    }
  }
}

}  // namespace stepscope::test

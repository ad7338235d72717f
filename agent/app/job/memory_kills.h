#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stepscope {

// How often the kernel has killed processes for want of memory. A sample is too seldom to see the
// kill that ends a job, so that these counts are read when it begins and when it has ended.
struct MemoryKills {
  std::optional<std::uint64_t> of_group{}, of_node{};  // nothing where the kernel does not count
  std::optional<std::uint64_t> limit_bytes{};          // the smallest of the group and those around
};

// Of this process's control group, which its command shares, and of the machine.
MemoryKills ReadMemoryKills(const std::string& root);

// Says what was killed from one reading to the next; "" where nothing was, as far as is known.
std::string KilledBetween(const MemoryKills& before, const MemoryKills& after);

}  // namespace stepscope

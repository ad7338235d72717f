#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/collect/collector.h"

namespace stepscope {

// The counters of an NFS client for one export since it was mounted.
struct NfsTotals {
  struct Kind {
    std::uint64_t operations = 0;
    std::uint64_t waited_ms = 0;  // from the request to the answer, queue included
  };
  std::string_view remote;  // "server:/export"
  std::string_view folder;  // mount point
  std::uint64_t read_bytes = 0, write_bytes = 0;
  Kind reads, writes;
  std::uint64_t operations = 0;  // operations of every kind
};

// Takes the next NFS mount off the front of /proc/self/mountstats; nothing at the end.
std::optional<NfsTotals> TakeNfsMount(std::string_view& text);

// Collects NFS mounts, each export once, every 2 s; every 30 s as long as there is none. Below
// another root the mounts of its first process count: the agent's own are its container's.
Result<std::unique_ptr<Collector>> MakeNfsCollector(const std::string& root, TickRow& row);

}  // namespace stepscope

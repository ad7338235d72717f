#include "agent/host/memory.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "agent/collect/scan.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"

namespace stepscope {
namespace {

constexpr std::array<std::string_view, 10> kNames = {
    "MemTotal:",  "MemAvailable:", "MemFree:", "Buffers:",   "Cached:",
    "SwapTotal:", "SwapFree:",     "Dirty:",   "Writeback:", "Shmem:"};
enum Name {
  kTotal,
  kAvailable,
  kFree,
  kBuffers,
  kCached,
  kSwapTotal,
  kSwapFree,
  kDirty,
  kWriteback,
  kShared
};

using Bytes = std::array<std::optional<std::uint64_t>, kNames.size()>;

Bytes ReadBytes(std::string_view text) {
  Bytes bytes;
  std::string_view line;
  // All names are in the first half of the file.
  for (std::size_t found = 0; found < kNames.size() && TakeLine(text, line);) {
    const auto name = std::ranges::find(kNames, TakeWord(line));
    if (name == kNames.end()) continue;
    ++found;
    const auto kib = TakeNumber(line);
    if (kib && *kib < UINT64_MAX / 1024) bytes[name - kNames.begin()] = *kib * 1024;
  }
  return bytes;
}

class MemoryCollector : public Collector {
 public:
  MemoryCollector(Source source, TickRow& row)
      : source_(std::move(source)),
        percent_(row.Add("memory_used_percent")),
        used_(row.Add("memory_used_bytes")),
        available_(row.Add("memory_available_bytes")),
        total_(row.Add("memory_total_bytes")),
        cached_(row.Add("memory_cached_bytes")),
        shared_(row.Add("memory_shared_bytes")),
        dirty_(row.Add("memory_dirty_bytes")) {}

  Status Collect(SteadyTime, TickRow& row) override {
    const auto text = source_.Read();
    if (!text) return text.error();
    const auto memory = ParseMemory(*text);
    if (!memory) return memory.error();
    const auto total = static_cast<double>(memory->total_bytes);
    const auto used = total - static_cast<double>(memory->available_bytes);
    row.Set(percent_, 100 * used / total);
    row.Set(used_, used);
    row.Set(available_, static_cast<double>(memory->available_bytes));
    row.Set(total_, total);
    row.Set(cached_, static_cast<double>(memory->cached_bytes));
    row.Set(shared_, static_cast<double>(memory->shared_bytes));
    row.Set(dirty_, static_cast<double>(memory->dirty_bytes));
    if (memory->swap_bytes > 0) swap_.Set(static_cast<double>(memory->swap_used_bytes), row);
    return {};
  }

 private:
  Source source_;
  std::size_t percent_, used_, available_, total_, cached_, shared_, dirty_;
  GaugeSeries swap_{"swap_used_bytes"};
};

}  // namespace

Result<MemoryFigures> ParseMemory(std::string_view text) {
  const Bytes bytes = ReadBytes(text);
  if (!bytes[kTotal] || *bytes[kTotal] == 0) return Unavailable("/proc/meminfo: no MemTotal");
  if (!bytes[kAvailable] && !bytes[kFree]) {
    return Unavailable("/proc/meminfo: neither MemAvailable nor MemFree");
  }
  MemoryFigures figures;
  figures.total_bytes = *bytes[kTotal];
  const std::uint64_t available = bytes[kAvailable].value_or(
      bytes[kFree].value_or(0) + bytes[kBuffers].value_or(0) + bytes[kCached].value_or(0));
  figures.available_bytes = std::min(available, figures.total_bytes);
  figures.cached_bytes = bytes[kCached].value_or(0);
  figures.shared_bytes = bytes[kShared].value_or(0);
  figures.dirty_bytes = bytes[kDirty].value_or(0) + bytes[kWriteback].value_or(0);
  const std::uint64_t swap = bytes[kSwapTotal].value_or(0);
  figures.swap_bytes = swap;
  figures.swap_used_bytes = swap - std::min(swap, bytes[kSwapFree].value_or(swap));
  return figures;
}

Result<std::unique_ptr<Collector>> MakeMemoryCollector(const std::string& root, TickRow& row) {
  auto source = Source::Open(root, "/proc/meminfo");
  if (!source) return source.error();
  return std::unique_ptr<Collector>(std::make_unique<MemoryCollector>(std::move(*source), row));
}

}  // namespace stepscope

#include "agent/host/pressure.h"

#include <algorithm>
#include <vector>

#include "agent/collect/counter.h"
#include "agent/collect/paced_collector.h"
#include "agent/collect/scan.h"
#include "agent/collect/source.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// To answer, the kernel sums up the waiting of each core, for each file anew.
constexpr Duration kPressurePeriod = 2s;

struct PressureFile {
  const char* path;
  const char* some;
  const char* full;  // null where "full" means nothing
};

constexpr PressureFile kFiles[] = {
    {"/proc/pressure/cpu", "pressure_cpu_percent", nullptr},
    {"/proc/pressure/memory", "pressure_memory_percent", "pressure_memory_full_percent"},
    {"/proc/pressure/io", "pressure_io_percent", "pressure_io_full_percent"},
};

struct Stall {
  std::size_t column = TickRow::kNoColumn;
  Counter waited_us;

  void Take(std::uint64_t total_us, SteadyTime now, TickRow& row) {
    const auto us_per_second = waited_us.Rate(total_us, now);
    if (us_per_second) row.Set(column, std::clamp(*us_per_second / 10'000, 0.0, 100.0));
  }
};

struct Resource {
  Source source;
  const char* path;
  Stall some, full;
};

class PressureCollector : public PacedCollector {
 public:
  explicit PressureCollector(std::vector<Resource> resources)
      : PacedCollector(kPressurePeriod), resources_(std::move(resources)) {}

 private:
  Status Read(SteadyTime now, TickRow& row) override {
    Status status;
    for (Resource& resource : resources_) {
      const auto text = resource.source.Read();
      const auto totals = text ? ParsePressure(*text) : std::nullopt;
      if (!totals) {
        status = text ? Unavailable(Format("{}: no total", resource.path)) : text.error();
        continue;
      }
      resource.some.Take(totals->some_us, now, row);
      if (totals->full_us) resource.full.Take(*totals->full_us, now, row);
    }
    return status;
  }

  std::vector<Resource> resources_;
};

std::optional<std::uint64_t> TakeTotal(std::string_view line) {
  constexpr std::string_view kName = "total=";
  for (std::string_view word = TakeWord(line); !word.empty(); word = TakeWord(line)) {
    if (!word.starts_with(kName)) continue;
    word.remove_prefix(kName.size());
    return TakeNumber(word);
  }
  return std::nullopt;
}

}  // namespace

std::optional<PressureTotals> ParsePressure(std::string_view text) {
  PressureTotals totals;
  bool some = false;
  std::string_view line;
  while (TakeLine(text, line)) {
    const std::string_view kind = TakeWord(line);
    const auto total = TakeTotal(line);
    if (!total) continue;
    if (kind == "some") totals.some_us = *total, some = true;
    if (kind == "full") totals.full_us = *total;
  }
  if (!some) return std::nullopt;
  return totals;
}

Result<std::unique_ptr<Collector>> MakePressureCollector(const std::string& root, TickRow& row) {
  std::vector<Resource> resources;
  for (const PressureFile& file : kFiles) {
    auto source = Source::Open(root, file.path);
    if (!source) return source.error();
    // Kernels may have the file and refuse to read it, when started with psi=0.
    if (const auto text = source->Read(); !text) return text.error();
    resources.push_back({std::move(*source), file.path, {}, {}});
  }
  for (std::size_t i = 0; i < resources.size(); ++i) {
    resources[i].some.column = row.Add(kFiles[i].some);
    if (kFiles[i].full != nullptr) resources[i].full.column = row.Add(kFiles[i].full);
  }
  return std::unique_ptr<Collector>(std::make_unique<PressureCollector>(std::move(resources)));
}

}  // namespace stepscope

#include "agent/host/disk.h"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "agent/collect/counter.h"
#include "agent/collect/scan.h"
#include "agent/collect/source.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kSectorBytes = 512;  // of this file, whatever the device's own
constexpr std::size_t kMostDevices = 4096;

struct Disk {
  bool counted = false;
  std::size_t read = TickRow::kNoColumn;
  std::size_t write = TickRow::kNoColumn;
  std::size_t busy = TickRow::kNoColumn;
  Counter read_bytes, write_bytes, busy_ms;
};

class DiskCollector : public Collector {
 public:
  DiskCollector(Source source, const std::string& root)
      : source_(std::move(source)), block_(root + "/sys/block/") {}

  Status Collect(SteadyTime now, TickRow& row) override {
    auto text = source_.Read();
    if (!text) return text.error();
    std::string_view line;
    while (TakeLine(*text, line)) {
      const auto totals = ParseDiskLine(line);
      if (totals) Take(*totals, now, row);
    }
    return {};
  }

 private:
  void Take(const DiskTotals& totals, SteadyTime now, TickRow& row) {
    Disk* disk = Find(totals.device, row);
    if (disk == nullptr || !disk->counted) return;
    if (const auto rate = disk->read_bytes.Rate(totals.read_bytes, now)) row.Set(disk->read, *rate);
    if (const auto rate = disk->write_bytes.Rate(totals.write_bytes, now)) {
      row.Set(disk->write, *rate);
    }
    const auto ms_per_second = disk->busy_ms.Rate(totals.busy_ms, now);
    if (ms_per_second) row.Set(disk->busy, std::min(*ms_per_second / 10, 100.0));
  }

  Disk* Find(std::string_view device, TickRow& row) {
    const auto found = disks_.find(device);
    if (found != disks_.end()) return &found->second;
    if (disks_.size() >= kMostDevices) return nullptr;
    Disk& disk = disks_[std::string(device)];
    disk.counted = IsHardware(std::string(device));
    if (!disk.counted) return &disk;
    disk.read = row.Add("disk_read_bytes_per_second", device);
    disk.write = row.Add("disk_write_bytes_per_second", device);
    disk.busy = row.Add("disk_busy_percent", device);
    return &disk;
  }

  // Partitions are no entries of /sys/block, and what is only software has no "device" there.
  bool IsHardware(std::string device) const {
    std::ranges::replace(device, '/', '!');
    return access((block_ + device + "/device").c_str(), F_OK) == 0;
  }

  Source source_;
  const std::string block_;
  std::map<std::string, Disk, std::less<>> disks_;
};

}  // namespace

std::optional<DiskTotals> ParseDiskLine(std::string_view line) {
  TakeWord(line);
  TakeWord(line);
  DiskTotals totals;
  totals.device = TakeWord(line);
  // reads, merged, sectors, ms; writes, merged, sectors, ms; in flight, ms busy
  std::uint64_t fields[10] = {};
  for (std::uint64_t& field : fields) {
    const auto number = TakeNumber(line);
    if (!number) return std::nullopt;
    field = *number;
  }
  totals.read_bytes = fields[2] * kSectorBytes;
  totals.write_bytes = fields[6] * kSectorBytes;
  totals.busy_ms = fields[9];
  return totals;
}

Result<std::unique_ptr<Collector>> MakeDiskCollector(const std::string& root, TickRow&) {
  auto source = Source::Open(root, "/proc/diskstats");
  if (!source) return source.error();
  return std::unique_ptr<Collector>(std::make_unique<DiskCollector>(std::move(*source), root));
}

}  // namespace stepscope

#include "agent/host/disk.h"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "agent/collect/scan.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kSectorBytes = 512;  // of this file, whatever the device's own
constexpr std::size_t kMostDevices = 4096;

// Requests of one direction: how many, their bytes, and how long one of them took.
class Direction {
 public:
  Direction(const std::string& device, std::string_view bytes, std::string_view requests,
            std::string_view wait)
      : bytes_(bytes, device), requests_(requests, device), wait_(wait, device) {}

  void Take(std::uint64_t bytes, std::uint64_t requests, std::uint64_t ms, SteadyTime now,
            TickRow& row) {
    bytes_.Take(bytes, now, row);
    const auto each_second = requests_.Take(requests, now, row);
    const auto waited_ms = waited_ms_.Rate(ms, now);
    if (!each_second || !waited_ms || *each_second <= 0) return;
    wait_.Set(*waited_ms / *each_second / 1000, row);
  }

 private:
  RateSeries bytes_, requests_;
  Counter waited_ms_;
  GaugeSeries wait_;
};

struct Disk {
  explicit Disk(const std::string& device)
      : read(device, "disk_read_bytes_per_second", "disk_reads_per_second",
             "disk_read_wait_seconds"),
        write(device, "disk_write_bytes_per_second", "disk_writes_per_second",
              "disk_write_wait_seconds"),
        busy("disk_busy_percent", device),
        queue("disk_queue", device, 1e-3) {}

  bool counted = false;
  Direction read, write;
  Counter busy_ms;
  GaugeSeries busy;
  RateSeries queue;
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
    Disk* disk = Find(totals.device);
    if (disk == nullptr || !disk->counted) return;
    disk->read.Take(totals.read_bytes, totals.reads, totals.read_ms, now, row);
    disk->write.Take(totals.write_bytes, totals.writes, totals.write_ms, now, row);
    disk->queue.Take(totals.queued_ms, now, row);
    const auto ms_per_second = disk->busy_ms.Rate(totals.busy_ms, now);
    const bool used = totals.busy_ms > 0;
    if (ms_per_second && used) disk->busy.Set(std::min(*ms_per_second / 10, 100.0), row);
  }

  Disk* Find(std::string_view device) {
    const auto found = disks_.find(device);
    if (found != disks_.end()) return &found->second;
    if (disks_.size() >= kMostDevices) return nullptr;
    Disk& disk = disks_.emplace(device, std::string(device)).first->second;
    disk.counted = IsHardware(std::string(device));
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
  enum {
    kReads,
    kReadSectors = 2,
    kReadMs,
    kWrites,
    kWriteSectors = 6,
    kWriteMs,
    kBusyMs = 9,
    kQueuedMs
  };
  std::uint64_t fields[kQueuedMs + 1] = {};
  for (std::uint64_t& field : fields) {
    const auto number = TakeNumber(line);
    if (!number) return std::nullopt;
    field = *number;
  }
  totals.reads = fields[kReads];
  totals.read_bytes = fields[kReadSectors] * kSectorBytes;
  totals.read_ms = fields[kReadMs];
  totals.writes = fields[kWrites];
  totals.write_bytes = fields[kWriteSectors] * kSectorBytes;
  totals.write_ms = fields[kWriteMs];
  totals.busy_ms = fields[kBusyMs];
  totals.queued_ms = fields[kQueuedMs];
  return totals;
}

Result<std::unique_ptr<Collector>> MakeDiskCollector(const std::string& root, TickRow&) {
  auto source = Source::Open(root, "/proc/diskstats");
  if (!source) return source.error();
  return std::unique_ptr<Collector>(std::make_unique<DiskCollector>(std::move(*source), root));
}

}  // namespace stepscope

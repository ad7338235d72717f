#include "agent/host/disk.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "agent/collect/scan.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kSectorBytes = 512;  // the stat file's unit, whatever the device's is
constexpr std::size_t kMostDisks = 4096;
constexpr Duration kScanPeriod = 30s;  // time between searches for new devices

// The requests of one direction: their number, bytes, and time per request.
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
  void Restart() {
    bytes_.Restart();
    requests_.Restart();
    waited_ms_ = {};
  }

 private:
  RateSeries bytes_, requests_;
  Counter waited_ms_;
  GaugeSeries wait_;
};

class Disk {
 public:
  explicit Disk(const std::string& device)
      : read_(device, "disk_read_bytes_per_second", "disk_reads_per_second",
              "disk_read_wait_seconds"),
        write_(device, "disk_write_bytes_per_second", "disk_writes_per_second",
               "disk_write_wait_seconds"),
        busy_("disk_busy_percent", device),
        queue_("disk_queue", device, 1e-3) {}

  bool open() const { return source_.has_value(); }

  // Opens the device's file, until the device is gone; another one may come under its name.
  void Open(const std::string& root, const std::string& folder) {
    auto source = Source::Open(root, folder + "/stat");
    if (!source) return;
    source_ = std::move(*source);
    read_.Restart();
    write_.Restart();
    busy_ms_ = {};
    queue_.Restart();
  }

  void Read(SteadyTime now, TickRow& row) {
    if (!source_) return;
    const auto text = source_->Read();
    const auto totals = text ? ParseDiskStat(*text) : std::nullopt;
    if (!totals) return source_.reset();
    Take(*totals, now, row);
  }

 private:
  void Take(const DiskTotals& totals, SteadyTime now, TickRow& row) {
    read_.Take(totals.read_bytes, totals.reads, totals.read_ms, now, row);
    write_.Take(totals.write_bytes, totals.writes, totals.write_ms, now, row);
    queue_.Take(totals.queued_ms, now, row);
    const auto ms_per_second = busy_ms_.Rate(totals.busy_ms, now);
    const bool used = totals.busy_ms > 0;
    if (ms_per_second && used) busy_.Set(std::min(*ms_per_second / 10, 100.0), row);
  }

  std::optional<Source> source_;
  Direction read_, write_;
  Counter busy_ms_;
  GaugeSeries busy_;
  RateSeries queue_;
};

// For each line that is read, the kernel sums up the counts of each core: so each tick reads only
// the disks that count, each from a file of its own, and the list of all devices, with partitions
// and loops, is read now and then.
class DiskCollector : public Collector {
 public:
  DiskCollector(Source list, const std::string& root) : list_(std::move(list)), root_(root) {}

  Status Collect(SteadyTime now, TickRow& row) override {
    if (pace_.Due(now)) scanned_ = Scan();
    for (auto& [device, disk] : disks_) disk.Read(now, row);
    return scanned_;
  }

 private:
  Status Scan() {
    auto text = list_.Read();
    if (!text) return text.error();
    std::string_view line;
    while (TakeLine(*text, line)) {
      TakeWord(line);
      TakeWord(line);
      const std::string_view device = TakeWord(line);
      if (!device.empty() && !software_.contains(device)) Consider(device);
    }
    return {};
  }

  // Partitions have no folder in /sys/block, and software devices have no "device" there.
  void Consider(std::string_view device) {
    if (disks_.size() + software_.size() >= kMostDisks) return;
    const auto known = disks_.find(device);
    // A known device that is open needs no allocation.
    if (known != disks_.end() && known->second.open()) return;
    const std::string folder = FolderOf(device);
    if (known != disks_.end()) return known->second.Open(root_, folder);
    if (access((root_ + folder + "/device").c_str(), F_OK) != 0) {
      software_.emplace(device);
      return;
    }
    disks_.emplace(device, std::string(device)).first->second.Open(root_, folder);
  }

  static std::string FolderOf(std::string_view device) {
    std::string name(device);
    std::ranges::replace(name, '/', '!');
    return "/sys/block/" + name;
  }

  Source list_;
  const std::string root_;
  Pace pace_{kScanPeriod};
  Status scanned_;  // status of the last search
  std::map<std::string, Disk, std::less<>> disks_;
  std::set<std::string, std::less<>> software_;
};

}  // namespace

std::optional<DiskTotals> ParseDiskStat(std::string_view text) {
  std::string_view line;
  TakeLine(text, line);
  DiskTotals totals;
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

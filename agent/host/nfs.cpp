#include "agent/host/nfs.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "agent/collect/scan.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"
#include "core/model/names.h"

namespace stepscope {
namespace {

// The kernel writes a line for each kind of operation of each mount.
constexpr Duration kNfsPeriod = 2s;
constexpr Duration kPeriodWithout = 30s;
constexpr std::size_t kMostMounts = 64;
constexpr auto kOwn = "/proc/self/mountstats";

// The name of the mount's folder, or as many of its last folders as fit into a device's name; ""
// when none fits.
std::string NameOf(std::string_view folder) {
  while (!folder.empty() && !CheckLabel("device", folder)) {
    const std::size_t next = folder.find('/', 1);
    folder = next == folder.npos ? "" : folder.substr(next);
  }
  return std::string(folder);
}

struct Mount {
  explicit Mount(const std::string& name)
      : read_bytes("nfs_read_bytes_per_second", name),
        write_bytes("nfs_write_bytes_per_second", name),
        operations("nfs_operations_per_second", name),
        read_wait("nfs_read_wait_seconds", name),
        write_wait("nfs_write_wait_seconds", name) {}

  void Take(const NfsTotals& totals, SteadyTime now, TickRow& row) {
    read_bytes.Take(totals.read_bytes, now, row);
    write_bytes.Take(totals.write_bytes, now, row);
    operations.Take(totals.operations, now, row);
    TakeWait(totals.reads, reads, read_wait, now, row);
    TakeWait(totals.writes, writes, write_wait, now, row);
  }

  struct Kind {
    Counter operations, waited_ms;
  };
  static void TakeWait(const NfsTotals::Kind& totals, Kind& kind, GaugeSeries& wait, SteadyTime now,
                       TickRow& row) {
    const auto each_second = kind.operations.Rate(totals.operations, now);
    const auto waited_ms = kind.waited_ms.Rate(totals.waited_ms, now);
    if (!each_second || !waited_ms || *each_second <= 0) return;
    wait.Set(*waited_ms / *each_second / 1000, row);
  }

  RateSeries read_bytes, write_bytes, operations;
  Kind reads, writes;
  GaugeSeries read_wait, write_wait;
  SteadyTime read_at{};
};

class NfsCollector : public Collector {
 public:
  explicit NfsCollector(Source source) : source_(std::move(source)) {}

  Status Collect(SteadyTime now, TickRow& row) override {
    if ((mounts_.empty() ? pace_without_ : pace_).Due(now)) last_ = Read(now, row);
    return last_;
  }

 private:
  Status Read(SteadyTime now, TickRow& row) {
    auto text = source_.Read();
    if (!text) return text.error();
    while (const auto totals = TakeNfsMount(*text)) {
      Mount* mount = Find(*totals);
      // Each export once, however often it is mounted.
      if (mount == nullptr || std::exchange(mount->read_at, now) == now) continue;
      mount->Take(*totals, now, row);
    }
    return {};
  }

  Mount* Find(const NfsTotals& totals) {
    const auto found = mounts_.find(totals.remote);
    if (found != mounts_.end()) return &found->second;
    const std::string name = NameOf(totals.folder);
    if (mounts_.size() >= kMostMounts || name.empty() || !names_.insert(name).second) {
      return nullptr;
    }
    return &mounts_.emplace(totals.remote, name).first->second;
  }

  Source source_;
  Pace pace_{kNfsPeriod}, pace_without_{kPeriodWithout};
  Status last_;                                       // status of the last reading
  std::map<std::string, Mount, std::less<>> mounts_;  // by export
  std::set<std::string> names_;
};

void TakeBytes(std::string_view line, NfsTotals& totals) {
  // The fields of "bytes:" are normal and direct reads and writes of programs, then bytes from and
  // to the server.
  constexpr int kServerRead = 4, kServerWrite = 5;
  for (int i = 0; i <= kServerWrite; ++i) {
    const std::uint64_t bytes = TakeNumber(line).value_or(0);
    if (i == kServerRead) totals.read_bytes = bytes;
    if (i == kServerWrite) totals.write_bytes = bytes;
  }
}

void TakeOperation(std::string_view name, std::string_view line, NfsTotals& totals) {
  // The fields of an operation are operations, transmissions, timeouts, bytes out, bytes in, ms
  // queued, ms until the answer, ms in all.
  constexpr int kInAll = 7;
  std::uint64_t fields[kInAll + 1] = {};
  for (std::uint64_t& field : fields) {
    const auto number = TakeNumber(line);
    if (!number) return;
    field = *number;
  }
  totals.operations += fields[0];
  if (name == "READ:") totals.reads = {fields[0], fields[kInAll]};
  if (name == "WRITE:") totals.writes = {fields[0], fields[kInAll]};
}

// Parses "device SERVER:/EXPORT mounted on FOLDER with fstype nfs4 statvers=1.1"; blanks in names
// are written as \040.
bool TakeMount(std::string_view line, NfsTotals& totals) {
  if (TakeWord(line) != "device") return false;
  totals.remote = TakeWord(line);
  if (TakeWord(line) != "mounted" || TakeWord(line) != "on") return false;
  totals.folder = TakeWord(line);
  if (TakeWord(line) != "with" || TakeWord(line) != "fstype") return false;
  const std::string_view type = TakeWord(line);
  return type == "nfs" || type == "nfs4";
}

}  // namespace

std::optional<NfsTotals> TakeNfsMount(std::string_view& text) {
  NfsTotals totals;
  std::string_view line;
  bool inside = false, operations = false;
  while (!(inside && text.starts_with("device ")) && TakeLine(text, line)) {
    if (!inside) {
      inside = TakeMount(line, totals);
      continue;
    }
    const std::string_view name = TakeWord(line);
    if (name == "bytes:") TakeBytes(line, totals);
    if (operations) TakeOperation(name, line, totals);
    operations = operations || name == "per-op";
  }
  if (!inside) return std::nullopt;
  return totals;
}

Result<std::unique_ptr<Collector>> MakeNfsCollector(const std::string& root, TickRow&) {
  auto source = Source::Open(root, root.empty() ? kOwn : "/proc/1/mountstats");
  // The first process's file may be closed to this user.
  if (!source && !root.empty()) source = Source::Open(root, kOwn);
  if (!source) return source.error();
  return std::unique_ptr<Collector>(std::make_unique<NfsCollector>(std::move(*source)));
}

}  // namespace stepscope

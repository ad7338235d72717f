#include "agent/host/rdma.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "agent/collect/background_collector.h"
#include "agent/collect/scan.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// To answer for each file, the adapter's firmware is asked.
constexpr Duration kBytesPeriod = 1s;
constexpr Duration kRestPeriod = 5s;
constexpr char kFolder[] = "/sys/class/infiniband";
constexpr std::size_t kMostPorts = 64;

struct Row {
  std::string_view file, metric;
  double unit = 1;
  RateSeries::From from = RateSeries::kFirstMove;
};

constexpr double kWord = 4;  // bytes

constexpr Row kBytes[] = {
    {"counters/port_rcv_data", "rdma_receive_bytes_per_second", kWord, RateSeries::kFirstUse},
    {"counters/port_xmit_data", "rdma_send_bytes_per_second", kWord, RateSeries::kFirstUse},
};
// Several files may count for one metric.
constexpr Row kRest[] = {
    {"counters/port_rcv_packets", "rdma_receive_packets_per_second", 1, RateSeries::kFirstUse},
    {"counters/port_xmit_packets", "rdma_send_packets_per_second", 1, RateSeries::kFirstUse},
    {"counters/port_xmit_wait", "rdma_send_waits_per_second"},
    {"counters/symbol_error", "rdma_errors_per_second"},
    {"counters/port_rcv_errors", "rdma_errors_per_second"},
    {"counters/port_xmit_discards", "rdma_errors_per_second"},
    {"counters/link_downed", "rdma_errors_per_second"},
    {"hw_counters/out_of_sequence", "rdma_retransmits_per_second"},
    {"hw_counters/packet_seq_err", "rdma_retransmits_per_second"},
    {"hw_counters/local_ack_timeout_err", "rdma_retransmits_per_second"},
    {"hw_counters/np_cnp_sent", "rdma_congestion_per_second"},
    {"hw_counters/rp_cnp_handled", "rdma_congestion_per_second"},
};

std::optional<std::uint64_t> NumberOf(Source& source) {
  auto text = source.Read();
  std::string_view line;
  return text && TakeLine(*text, line) ? TakeNumber(line) : std::nullopt;
}

// The files of one metric.
struct Sum {
  std::string_view metric;
  std::vector<Source> files;
  RateSeries rate;

  void Take(SteadyTime now, TickRow& row) {
    std::uint64_t total = 0;
    for (Source& file : files) {
      const auto number = NumberOf(file);
      if (!number) return;  // a sum without this file would jump
      total += *number;
    }
    rate.Take(total, now, row);
  }
};

std::vector<Sum> OpenSums(const std::string& root, const std::string& folder,
                          const std::string& device, std::span<const Row> rows) {
  std::vector<Sum> all;
  for (const Row& row : rows) {
    auto file = Source::Open(root, folder + std::string(row.file));
    if (!file) continue;
    if (all.empty() || all.back().metric != row.metric) {
      all.push_back({row.metric, {}, RateSeries(row.metric, device, row.unit, row.from)});
    }
    all.back().files.push_back(std::move(*file));
  }
  return all;
}

class Port {
 public:
  Port(const std::string& root, const std::string& folder, const std::string& device)
      : bytes_(OpenSums(root, folder, device, kBytes)),
        rest_(OpenSums(root, folder, device, kRest)),
        rate_file_(Source::Open(root, folder + "rate")),
        link_("rdma_link_bytes_per_second", device) {}

  void TakeBytes(SteadyTime now, TickRow& row) {
    for (Sum& sum : bytes_) sum.Take(now, row);
  }

  void TakeRest(SteadyTime now, TickRow& row) {
    for (Sum& sum : rest_) sum.Take(now, row);
    if (!rate_file_) return;
    const auto text = rate_file_->Read();
    if (const auto rate = text ? ParseRdmaRate(*text) : std::nullopt) link_.Set(*rate, row);
  }

 private:
  std::vector<Sum> bytes_, rest_;
  Result<Source> rate_file_;
  GaugeSeries link_;
};

class RdmaCollector : public Collector {
 public:
  explicit RdmaCollector(std::vector<Port> ports) : ports_(std::move(ports)) {}

  Status Collect(SteadyTime now, TickRow& row) override {
    const bool bytes = bytes_pace_.Due(now), rest = rest_pace_.Due(now);
    for (Port& port : ports_) {
      if (bytes) port.TakeBytes(now, row);
      if (rest) port.TakeRest(now, row);
    }
    return {};
  }

 private:
  std::vector<Port> ports_;
  Pace bytes_pace_{kBytesPeriod}, rest_pace_{kRestPeriod};
};

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  std::filesystem::directory_iterator entry(folder, failed), end;
  for (; !failed && entry != end; entry.increment(failed)) {
    names.push_back(entry->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::optional<double> ParseRdmaRate(std::string_view text) {
  double gigabits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gigabits);
  text.remove_prefix(error == std::errc() ? end - text.data() : 0);
  if (!text.starts_with(" Gb/sec") || gigabits <= 0) return std::nullopt;
  return gigabits * 1e9 / 8;
}

Result<std::unique_ptr<Collector>> MakeRdmaCollector(const std::string& root, TickRow&) {
  std::vector<Port> ports;
  for (const std::string& adapter : NamesIn(root + kFolder)) {
    const std::string folder = Format("{}/{}/ports/", kFolder, adapter);
    for (const std::string& port : NamesIn(root + folder)) {
      if (ports.size() >= kMostPorts) break;
      ports.emplace_back(root, folder + port + "/", Format("{}:{}", adapter, port));
    }
  }
  if (ports.empty()) return NotFound(Format("{}: no port", kFolder));
  return std::unique_ptr<Collector>(std::make_unique<RdmaCollector>(std::move(ports)));
}

Result<std::unique_ptr<Collector>> MakeRdmaAside(const std::string& root, TickRow&) {
  if (NamesIn(root + kFolder).empty()) return NotFound(Format("{}: no port", kFolder));
  return CollectInBackground([root](TickRow& row) { return MakeRdmaCollector(root, row); },
                             {.name = "rdma", .period = kBytesPeriod});
}

}  // namespace stepscope

#include "agent/host/network.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "agent/collect/scan.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostInterfaces = 4096;
// To answer, the kernel asks the driver, under the lock of all interfaces.
constexpr Duration kSpeedPeriod = 30s;
constexpr std::string_view kInside[] = {"veth", "docker",  "br-", "virbr", "cni",
                                        "cali", "flannel", "ifb", "dummy", "vnet"};

bool LeadsOut(std::string_view device) {
  return device != "lo" && std::ranges::none_of(kInside, [&](std::string_view prefix) {
           return device.starts_with(prefix);
         });
}

struct InterfaceCount {
  std::uint64_t NetworkTotals::*total;
  std::string_view metric;
  RateSeries::From from;
};

constexpr InterfaceCount kInterfaceCounts[] = {
    {&NetworkTotals::receive_bytes, "network_receive_bytes_per_second", RateSeries::kFirstUse},
    {&NetworkTotals::send_bytes, "network_send_bytes_per_second", RateSeries::kFirstUse},
    {&NetworkTotals::receive_packets, "network_receive_packets_per_second", RateSeries::kFirstUse},
    {&NetworkTotals::send_packets, "network_send_packets_per_second", RateSeries::kFirstUse},
    {&NetworkTotals::receive_drops, "network_receive_drops_per_second", RateSeries::kFirstMove},
    {&NetworkTotals::send_drops, "network_send_drops_per_second", RateSeries::kFirstMove},
    {&NetworkTotals::receive_errors, "network_receive_errors_per_second", RateSeries::kFirstMove},
    {&NetworkTotals::send_errors, "network_send_errors_per_second", RateSeries::kFirstMove},
};

class Interface {
 public:
  Interface(const std::string& root, const std::string& device)
      : speed_path_("/sys/class/net/" + device + "/speed"),
        speed_file_(Source::Open(root, speed_path_)),
        speed_("network_link_bytes_per_second", device) {
    for (const InterfaceCount& count : kInterfaceCounts)
      rates_.emplace_back(count.metric, device, 1, count.from);
  }

  // `before`: time of the previous reading of all interfaces.
  void Take(const NetworkTotals& totals, SteadyTime before, SteadyTime now, TickRow& row) {
    const bool was_away = std::exchange(read_at_, now) != before;
    for (RateSeries& rate : rates_) {
      if (was_away) rate.Restart();
    }
    for (std::size_t i = 0; i < rates_.size(); ++i) {
      rates_[i].Take(totals.*kInterfaceCounts[i].total, now, row);
    }
  }

  // The use as a share of the link's speed; nothing where the link is down, or there is none. An
  // interface that was removed and added again has a new file.
  void TakeSpeed(const std::string& root, TickRow& row) {
    if (!speed_file_) speed_file_ = Source::Open(root, speed_path_);
    if (!speed_file_) return;
    const auto text = speed_file_->Read();
    std::string_view rest = text ? *text : "";
    std::string_view line;
    const std::uint64_t megabits = TakeLine(rest, line) ? TakeNumber(line).value_or(0) : 0;
    if (!text || text->empty()) speed_file_ = NotFound(speed_path_);
    if (megabits > 0) speed_.Set(static_cast<double>(megabits) * 1e6 / 8, row);
  }

 private:
  std::vector<RateSeries> rates_;  // in the order of kInterfaceCounts
  SteadyTime read_at_{};
  const std::string speed_path_;
  Result<Source> speed_file_;
  GaugeSeries speed_;
};

class NetworkCollector : public Collector {
 public:
  NetworkCollector(const std::string& root, Source source)
      : root_(root), source_(std::move(source)) {}

  Status Collect(SteadyTime now, TickRow& row) override {
    auto text = source_.Read();
    if (!text) return text.error();
    const bool ask_speed = pace_.Due(now);
    std::string_view line;
    while (TakeLine(*text, line)) {
      const auto totals = ParseNetworkLine(line);
      Interface* interface = totals ? Find(totals->device) : nullptr;
      if (interface == nullptr) continue;
      interface->Take(*totals, before_, now, row);
      if (ask_speed) interface->TakeSpeed(root_, row);
    }
    before_ = now;
    return {};
  }

 private:
  Interface* Find(std::string_view device) {
    const auto found = interfaces_.find(device);
    if (found != interfaces_.end()) return &found->second;
    if (interfaces_.size() >= kMostInterfaces || !LeadsOut(device)) return nullptr;
    const std::string name(device);
    return &interfaces_.emplace(name, Interface(root_, name)).first->second;
  }

  const std::string root_;
  Source source_;
  SteadyTime before_{};
  Pace pace_{kSpeedPeriod};
  std::map<std::string, Interface, std::less<>> interfaces_;
};

}  // namespace

std::optional<NetworkTotals> ParseNetworkLine(std::string_view line) {
  // Old kernels write no blank behind the colon, and an alias has a colon in its name.
  const std::size_t colon = line.rfind(':');
  if (colon == line.npos) return std::nullopt;
  std::string_view name = line.substr(0, colon);
  line.remove_prefix(colon + 1);
  NetworkTotals totals;
  totals.device = TakeWord(name);
  enum { kBytes, kPackets, kErrors, kDrops, kSend = 8, kSendBytes = kSend + kBytes };
  std::uint64_t fields[kSend + kDrops + 1] = {};
  for (std::size_t i = 0; i < std::size(fields); ++i) {
    const auto number = TakeNumber(line);
    if (!number && i <= kSendBytes) return std::nullopt;
    fields[i] = number.value_or(0);
  }
  totals.receive_bytes = fields[kBytes];
  totals.receive_packets = fields[kPackets];
  totals.receive_errors = fields[kErrors];
  totals.receive_drops = fields[kDrops];
  totals.send_bytes = fields[kSendBytes];
  totals.send_packets = fields[kSend + kPackets];
  totals.send_errors = fields[kSend + kErrors];
  totals.send_drops = fields[kSend + kDrops];
  return totals;
}

Result<std::unique_ptr<Collector>> MakeNetworkCollector(const std::string& root, TickRow&) {
  auto source = Source::Open(root, "/proc/net/dev");
  if (!source) return source.error();
  return std::unique_ptr<Collector>(std::make_unique<NetworkCollector>(root, std::move(*source)));
}

}  // namespace stepscope

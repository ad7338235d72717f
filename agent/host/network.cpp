#include "agent/host/network.h"

#include <algorithm>
#include <map>

#include "agent/collect/counter.h"
#include "agent/collect/scan.h"
#include "agent/collect/source.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostDevices = 4096;
constexpr std::string_view kInside[] = {"veth", "docker",  "br-", "virbr", "cni",
                                        "cali", "flannel", "ifb", "dummy", "vnet"};

bool LeadsOut(std::string_view device) {
  return device != "lo" && std::ranges::none_of(kInside, [&](std::string_view prefix) {
           return device.starts_with(prefix);
         });
}

struct Interface {
  std::size_t receive = TickRow::kNoColumn;
  std::size_t send = TickRow::kNoColumn;
  Counter receive_bytes, send_bytes;
};

class NetworkCollector : public Collector {
 public:
  explicit NetworkCollector(Source source) : source_(std::move(source)) {}

  Status Collect(SteadyTime now, TickRow& row) override {
    auto text = source_.Read();
    if (!text) return text.error();
    std::string_view line;
    while (TakeLine(*text, line)) {
      const auto totals = ParseNetworkLine(line);
      if (totals && LeadsOut(totals->device)) Take(*totals, now, row);
    }
    return {};
  }

 private:
  void Take(const NetworkTotals& totals, SteadyTime now, TickRow& row) {
    auto found = interfaces_.find(totals.device);
    if (found == interfaces_.end()) {
      if (interfaces_.size() >= kMostDevices) return;
      found = interfaces_.emplace(totals.device, Interface{}).first;
      found->second.receive = row.Add("network_receive_bytes_per_second", totals.device);
      found->second.send = row.Add("network_send_bytes_per_second", totals.device);
    }
    Interface& device = found->second;
    if (const auto rate = device.receive_bytes.Rate(totals.receive_bytes, now)) {
      row.Set(device.receive, *rate);
    }
    if (const auto rate = device.send_bytes.Rate(totals.send_bytes, now)) {
      row.Set(device.send, *rate);
    }
  }

  Source source_;
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
  std::uint64_t fields[9] = {};
  for (std::uint64_t& field : fields) {
    const auto number = TakeNumber(line);
    if (!number) return std::nullopt;
    field = *number;
  }
  totals.receive_bytes = fields[0];
  totals.send_bytes = fields[8];
  return totals;
}

Result<std::unique_ptr<Collector>> MakeNetworkCollector(const std::string& root, TickRow&) {
  auto source = Source::Open(root, "/proc/net/dev");
  if (!source) return source.error();
  return std::unique_ptr<Collector>(std::make_unique<NetworkCollector>(std::move(*source)));
}

}  // namespace stepscope

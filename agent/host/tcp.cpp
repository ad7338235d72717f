#include "agent/host/tcp.h"

#include "agent/collect/paced_collector.h"
#include "agent/collect/scan.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"

namespace stepscope {
namespace {

// To answer, the kernel sums up the counts of each core.
constexpr Duration kTcpPeriod = 5s;

class TcpCollector : public PacedCollector {
 public:
  explicit TcpCollector(Source source) : PacedCollector(kTcpPeriod), source_(std::move(source)) {}

 private:
  Status Read(SteadyTime now, TickRow& row) override {
    const auto text = source_.Read();
    if (!text) return text.error();
    const auto segments = ParseTcp(*text, "RetransSegs");
    if (!segments) return Unavailable("/proc/net/snmp: no RetransSegs");
    segments_.Take(*segments, now, row);
    return {};
  }

  Source source_;
  RateSeries segments_{"tcp_retransmits_per_second", ""};
};

}  // namespace

std::optional<std::uint64_t> ParseTcp(std::string_view text, std::string_view name) {
  std::string_view names, numbers;
  while (TakeLine(text, names) && !names.starts_with("Tcp:")) {
  }
  if (!TakeLine(text, numbers) || !numbers.starts_with("Tcp:")) return std::nullopt;
  for (std::string_view word = TakeWord(names); !word.empty(); word = TakeWord(names)) {
    if (word == name) return TakeNumber(numbers);
    TakeWord(numbers);
  }
  return std::nullopt;
}

Result<std::unique_ptr<Collector>> MakeTcpCollector(const std::string& root, TickRow&) {
  auto source = Source::Open(root, "/proc/net/snmp");
  if (!source) return source.error();
  return std::unique_ptr<Collector>(std::make_unique<TcpCollector>(std::move(*source)));
}

}  // namespace stepscope

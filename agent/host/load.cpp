#include "agent/host/load.h"

#include <charconv>

#include "agent/collect/scan.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"

namespace stepscope {
namespace {

// The kernel computes the average this often.
constexpr Duration kLoadPeriod = 5s;

class LoadCollector : public Collector {
 public:
  LoadCollector(Source source, TickRow& row)
      : source_(std::move(source)), column_(row.Add("load_1m")) {}

  Status Collect(SteadyTime now, TickRow& row) override {
    if (pace_.Due(now)) read_ = ReadLoad();
    if (!read_) return read_.error();
    row.Set(column_, *read_);
    return {};
  }

 private:
  Result<double> ReadLoad() {
    const auto text = source_.Read();
    if (!text) return text.error();
    const auto load = ParseLoad(*text);
    return load ? Result(*load) : Unavailable("/proc/loadavg: no number at its start");
  }

  Source source_;
  std::size_t column_;
  Pace pace_{kLoadPeriod};
  Result<double> read_ = Unavailable("/proc/loadavg: not read yet");
};

}  // namespace

std::optional<double> ParseLoad(std::string_view text) {
  const std::string_view word = TakeWord(text);
  double load = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), load);
  if (error != std::errc() || end != word.data() + word.size() || load < 0) return std::nullopt;
  return load;
}

Result<std::unique_ptr<Collector>> MakeLoadCollector(const std::string& root, TickRow& row) {
  auto source = Source::Open(root, "/proc/loadavg");
  if (!source) return source.error();
  return std::unique_ptr<Collector>(std::make_unique<LoadCollector>(std::move(*source), row));
}

}  // namespace stepscope

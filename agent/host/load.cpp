#include "agent/host/load.h"

#include <charconv>

#include "agent/collect/scan.h"
#include "agent/collect/source.h"

namespace stepscope {
namespace {

class LoadCollector : public Collector {
 public:
  LoadCollector(Source source, TickRow& row)
      : source_(std::move(source)), column_(row.Add("load_1m")) {}

  Status Collect(SteadyTime, TickRow& row) override {
    const auto text = source_.Read();
    if (!text) return text.error();
    const auto load = ParseLoad(*text);
    if (!load) return Unavailable("/proc/loadavg: no number at its start");
    row.Set(column_, *load);
    return {};
  }

 private:
  Source source_;
  std::size_t column_;
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

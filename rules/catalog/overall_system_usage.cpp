// The use of the nodes: a table, never an issue.

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "rules/engine/state.h"
#include "rules/stats/statistics.h"

namespace stepscope {
namespace {

constexpr std::string_view kMetrics[] = {
    "node_cpu_percent",
    "gpu_util_percent",
    "memory_used_percent",
    "gpu_memory_used_percent",
    "node_iowait_percent",
    "network_receive_bytes_per_second",
    "network_send_bytes_per_second",
};
// Names in the evidence: percentages first, then rates.
constexpr std::string_view kNames[] = {
    "cpu", "gpu", "memory", "gpu_memory", "io_wait", "network_receive", "network_send",
};
constexpr std::size_t kPercentages = 5;
constexpr std::pair<std::string_view, double> kShares[] = {
    {"p50", 0.50}, {"p90", 0.90}, {"p95", 0.95}, {"p99", 0.99}};
constexpr std::size_t kMostShown = 256;  // nodes in the evidence
// Percentages of a whole job are kept to 0.1 %: the state of a thousand nodes stays small.
constexpr double kPercentPerBin = 0.1;

// The distribution of one kind of usage on one node; minimum and maximum are exact.
struct Usage {
  TotalBins bins{kAmountBins};
  double least = 0, most = 0;
  double bytes = 0;  // total bytes, for a rate

  void Add(double value, std::uint32_t bin) {
    least = bins.total() == 0 ? value : std::min(least, value);
    most = bins.total() == 0 ? value : std::max(most, value);
    bins.Add(bin);
  }
  template <typename State>
  void Fields(State& state) {
    state("bins", bins);
    state("least", least);
    state("most", most);
    state("bytes", bytes);
  }
  double Percentile(double share, bool percentage) const {
    const std::uint32_t bin = bins.Percentile(share);
    return std::clamp(percentage ? bin * kPercentPerBin : BinAmount(bin), least, most);
  }
};

struct Node {
  std::int64_t samples = 0;
  std::optional<Time> last;                          // tick
  std::map<std::string, Usage, std::less<>> usages;  // by name

  template <typename State>
  void Fields(State& state) {
    state("samples", samples);
    state("last", last);
    state("usages", usages, [] { return Usage(); });
  }
};

class UsageFold : public FieldsFold<UsageFold> {
 public:
  explicit UsageFold(const JobFacts& facts) : facts_(facts) {}

  void Observe(const TickView& ticks) override;
  Verdict Judge() const override;

  template <typename State>
  void Fields(State& state) {
    state("nodes", nodes_, [] { return Node(); });
  }

 private:
  JobFacts facts_;
  std::map<std::string, Node, std::less<>> nodes_;
};

// Every GPU's sample counts by itself.
void AddPercentages(const TickView& ticks, std::size_t kind, Node& node) {
  for (std::size_t i = 0; i < ticks.series.size(); ++i) {
    if (ticks.series[i].metric != kMetrics[kind]) continue;
    Usage& usage = node.usages[std::string(kNames[kind])];
    for (std::size_t row = ticks.first; row < ticks.end; ++row) {
      if (!ticks.columns[i].Has(row)) continue;
      const double percent = BinPercent(PercentBin(ticks.columns[i], row));
      usage.Add(percent, static_cast<std::uint32_t>(percent / kPercentPerBin + 0.5));
    }
  }
}

// The interfaces of a node add up.
void AddRate(const TickView& ticks, std::size_t kind, Duration interval, Node& node) {
  std::vector<const Column*> columns;
  for (std::size_t i = 0; i < ticks.series.size(); ++i) {
    if (ticks.series[i].metric == kMetrics[kind]) columns.push_back(&ticks.columns[i]);
  }
  Time before = node.last.value_or(ticks.At(ticks.first) - interval);
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    double rate = 0;
    bool known = false;
    for (const Column* column : columns) {
      if (!column->Has(row)) continue;
      rate += std::max(column->At(row), 0.0);
      known = true;
    }
    // A rate covers its own tick: traffic in a gap is not known.
    const Duration elapsed = std::min(ticks.At(row) - before, 2 * interval);
    before = ticks.At(row);
    if (!known) continue;
    Usage& usage = node.usages[std::string(kNames[kind])];
    usage.Add(rate, AmountBin(rate));
    usage.bytes += rate * std::chrono::duration<double>(elapsed).count();
  }
}

void UsageFold::Observe(const TickView& ticks) {
  if (ticks.first == ticks.end) return;
  Node& node = nodes_[std::string(ticks.node)];
  for (std::size_t kind = 0; kind < std::size(kMetrics); ++kind) {
    if (kind < kPercentages) {
      AddPercentages(ticks, kind, node);
    } else {
      AddRate(ticks, kind, facts_.interval, node);
    }
  }
  node.samples += static_cast<std::int64_t>(ticks.end - ticks.first);
  node.last = ticks.At(ticks.end - 1);
}

Json Shown(const Node& node, std::string_view name) {
  const auto found = node.usages.find(name);
  if (found == node.usages.end() || found->second.bins.total() == 0) return nullptr;
  const Usage& usage = found->second;
  const bool percentage = !name.starts_with("network");
  Json shown = {{"unit", percentage ? "%" : "bytes/s"}, {"max", usage.most}, {"min", usage.least}};
  for (const auto& [share_name, share] : kShares) {
    shown[std::string(share_name)] = usage.Percentile(share, percentage);
  }
  if (!percentage) shown["total_bytes"] = static_cast<std::int64_t>(std::min(usage.bytes, 9e15));
  return shown;
}

double P95(const Node& node, std::string_view name) {
  const auto found = node.usages.find(name);
  return found == node.usages.end() ? -1 : found->second.Percentile(0.95, true);
}

std::string Describe(const std::string& name, const Node& node, std::size_t nodes) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"cpu", "CPU"}, {"gpu", "GPU"}, {"memory", "memory"}, {"io_wait", "I/O wait"}};
  std::string text = nodes == 1
                         ? Format("Node {}: 95th percentile of", name)
                         : Format("The busiest of {} nodes ({}): 95th percentile of", nodes, name);
  std::string_view comma = " ";
  for (const auto& [usage, word] : kWords) {
    if (P95(node, usage) < 0) continue;
    text += Format("{}{} {:.1f} %", comma, word, P95(node, usage));
    comma = ", ";
  }
  return text + Format(" over {}.", CountText(node.samples, "sample"));
}

Verdict UsageFold::Judge() const {
  Json nodes = Json::array();
  const std::pair<const std::string, Node>* busiest = nullptr;
  for (const auto& node : nodes_) {
    if (busiest == nullptr || P95(node.second, "cpu") > P95(busiest->second, "cpu")) {
      busiest = &node;
    }
    if (nodes.size() == kMostShown) continue;
    Json row = {{"node", node.first}, {"samples", node.second.samples}};
    for (const std::string_view name : kNames) row[std::string(name)] = Shown(node.second, name);
    nodes.push_back(std::move(row));
  }
  if (busiest == nullptr) return Unknown("no samples yet");
  Verdict verdict;
  verdict.kind = VerdictKind::kClear;
  verdict.sentence = Describe(busiest->first, busiest->second, nodes_.size());
  verdict.evidence = {{"nodes", std::move(nodes)}};
  return verdict;
}

}  // namespace

RuleType OverallSystemUsage() {
  return {
      .name = "OverallSystemUsage",
      .sentence = "How busy CPU, GPU, memory, disks and network of each node were. Never fires.",
      .fires = "Never. It says how busy each node was.",
      .advice =
          "Look at what is near 100 %: it holds the rest up. What is near 0 % was paid for in "
          "vain.",
      .params = {},
      .metrics = kMetrics,
      .steps = StepNeed::kNone,
      .make = MakeFold<UsageFold>,
  };
}

}  // namespace stepscope

// GPUs idle while their node receives all that an interface can carry.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "rules/signals/tick_share.h"
#include "rules/stats/columns.h"
#include "rules/stats/statistics.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"link", 90, 0, 100, "%",
     "An interface that receives more than this of its speed is full; of the most that it "
     "sustained, where its speed is not known."},
    {"gpu_threshold", 30, 0, 100, "%", "A GPU below this is idle."},
    {"threshold", 30, 0, 100, "%",
     "Share of the judged ticks that are bottlenecks from which it fires."},
    kPatience,
};
constexpr std::string_view kMetrics[] = {"gpu_util_percent", "network_receive_bytes_per_second",
                                         "network_link_bytes_per_second"};
constexpr std::size_t kMostInterfaces = 256;  // the most interfaces of a node
// An interface of unknown speed is taken to carry its highest mean over this long, once it was
// watched for a while and reached a rate that shows real traffic.
constexpr Duration kSustained = 10s, kWatched = 5min;
constexpr double kLeastSpeed = 10e6;  // bytes/s

class Interface {
 public:
  // Whether the interface is full; none while its speed is not known.
  std::optional<bool> Take(Time at, double received, std::optional<double> speed, double link) {
    if (speed) speed_ = *speed;
    if (!first_) first_ = stretch_ = at;
    if (at - *stretch_ >= kSustained) {
      most_ = std::max(most_, sum_ / static_cast<double>(std::max<std::int64_t>(count_, 1)));
      stretch_ = at;
      sum_ = 0, count_ = 0;
    }
    sum_ += received;
    ++count_;
    if (speed_ > 0) return received > link * speed_;
    if (at - *first_ < kWatched) return {};
    return most_ >= kLeastSpeed && received > link * most_;
  }

  template <typename State>
  void Fields(State& state) {
    state("speed", speed_);
    state("most", most_);
    state("sum", sum_);
    state("count", count_);
    state("first", first_);
    state("stretch", stretch_);
  }

 private:
  double speed_ = 0, most_ = 0;  // bytes/s; the speed is 0 as long as it is not known
  double sum_ = 0;               // sum of the rates since `stretch_`
  std::int64_t count_ = 0;
  std::optional<Time> first_, stretch_;
};

struct Interfaces {
  std::map<std::string, Interface, std::less<>> by_device;

  template <typename State>
  void Fields(State& state) {
    state("by_device", by_device, [] { return Interface(); });
  }
};

TickShare::Words WordsOf(const Params& params) {
  return {Format("was below {:g} % while its node received above {:g} % of what an interface "
                 "carries",
                 params["gpu_threshold"], params["link"]),
          "a GPU's use and a network interface's"};
}

class NetworkFold : public TickShare {
 public:
  NetworkFold(const Params& params, const JobFacts& facts)
      : TickShare(params, facts, WordsOf(params)),
        gpu_bin_(PercentBin(params["gpu_threshold"])),
        link_(params["link"] / 100) {}

  using TickShare::Observe;
  void Observe(const TickView& ticks) override;
  std::string Save() const override { return SaveFields(*this); }
  Status Load(std::string_view state) override { return LoadFields(state, *this); }

  template <typename State>
  void Fields(State& state) {
    TickShare::Fields(state);
    state("interfaces", interfaces_, [] { return Interfaces(); });
  }

 private:
  struct Source {
    Interface* interface = nullptr;
    const Column* received = nullptr;
    const Column* speed = nullptr;
  };
  std::vector<Source> SourcesOf(const TickView& ticks);
  std::optional<bool> AnyFull(const std::vector<Source>& sources, const TickView& ticks,
                              std::size_t row) const;

  std::uint32_t gpu_bin_;
  double link_;
  std::map<std::string, Interfaces, std::less<>> interfaces_;  // by node
};

std::vector<NetworkFold::Source> NetworkFold::SourcesOf(const TickView& ticks) {
  auto& known = interfaces_[std::string(ticks.node)].by_device;
  const auto speeds = ColumnsOf(ticks, kMetrics[2]);
  std::vector<Source> sources;
  for (const DeviceColumn& each : ColumnsOf(ticks, kMetrics[1])) {
    if (known.size() >= kMostInterfaces && !known.contains(each.device)) continue;
    const auto speed = std::ranges::find(speeds, each.device, &DeviceColumn::device);
    sources.push_back(
        {&known[each.device], each.column, speed == speeds.end() ? nullptr : speed->column});
  }
  return sources;
}

std::optional<bool> NetworkFold::AnyFull(const std::vector<Source>& sources, const TickView& ticks,
                                         std::size_t row) const {
  std::optional<bool> any;
  for (const Source& source : sources) {
    if (!source.received->Has(row)) continue;
    // The speed is read twice a minute: between two reads the last one holds.
    std::optional<double> speed;
    if (source.speed != nullptr && source.speed->Has(row)) speed = source.speed->At(row);
    const auto full = source.interface->Take(ticks.At(row), source.received->At(row), speed, link_);
    if (full) any = any.value_or(false) || *full;
  }
  return any;
}

void NetworkFold::Observe(const TickView& ticks) {
  const auto sources = SourcesOf(ticks);
  // The speed of an interface is also learned from ticks that are not judged.
  std::vector<std::optional<bool>> full;
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    full.push_back(AnyFull(sources, ticks, row));
  }
  const auto gpus = ColumnsOf(ticks, kMetrics[0]);
  Count(ticks, [&](std::size_t row) -> std::optional<double> {
    const auto idle = ShareBelow(gpus, row, gpu_bin_);
    const auto is_full = full[row - ticks.first];
    if (!idle || !is_full) return {};
    return *is_full ? *idle : 0;
  });
}

}  // namespace

RuleType NetworkBottleneck() {
  return {
      .name = "NetworkBottleneck",
      .sentence = "A GPU idles while its node receives all that a network interface can carry.",
      .fires =
          "In more than threshold of the judged samples a GPU is below gpu_threshold while an "
          "interface of its node receives more than link of what it can carry: its speed, or where "
          "that is not known the most that it ever sustained for 10 s.",
      .advice =
          "Keep the data nearer to the GPUs (local disks, a cache), compress it, or read each part "
          "of it on one node only.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kAllThereAre,
      .make = MakeFold<NetworkFold>,
  };
}

}  // namespace stepscope

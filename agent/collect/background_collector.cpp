#include "agent/collect/background_collector.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "agent/collect/series.h"
#include "core/base/clock.h"
#include "core/base/detached_thread.h"
#include "core/base/guarded.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

struct ReadState {
  bool stop = false, started = false;
  bool hangs = false;                 // no answer in time, and none since
  bool fresh = false;                 // the reading was not shown by a tick yet
  std::optional<SteadyTime> asked{};  // tick whose reading is awaited
  SteadyTime asked_at{};              // time of that request
  std::optional<Error> failure{};     // reason why it could not be made
  Status read{};
  std::vector<GpuFacts> gpus{};
  TickRow row{};
  int makes = 0;  // counts collectors: a new one has other column numbers
};

// Owned by the collector and its thread; the last of them frees it.
struct BackgroundReads {
  MakeCollector make;
  Guarded<ReadState> state{};
};

// Null when the collector cannot be made.
std::unique_ptr<Collector> Make(BackgroundReads& shared, TickRow& row) {
  row = TickRow();
  auto made = shared.make(row);
  auto gpus = made ? (*made)->Gpus() : std::vector<GpuFacts>();
  shared.state.Change([&](ReadState& state) {
    state.started = true;
    state.failure = made ? std::nullopt : std::optional(made.error());
    state.gpus = std::move(gpus);
    ++state.makes;
  });
  return made ? std::move(*made) : nullptr;
}

// The thread's loop, until the stop. No lock is held while the collector is made or read.
void Serve(BackgroundReads& shared) {
  TickRow row;
  auto collector = Make(shared, row);
  while (collector) {
    const auto due = [](const ReadState& state) { return state.stop || state.asked; };
    while (!shared.state.Wait({}, 1h, due)) {
    }
    const auto [stop, asked] = shared.state.Read(
        [](const ReadState& state) { return std::pair(state.stop, state.asked); });
    if (stop) return;
    row.Clear();
    const Status read = collector->Collect(*asked, row);
    const bool late = shared.state.Change([&](ReadState& state) {
      state.asked.reset();
      if (state.hangs) return true;
      state.read = read;
      state.row = row;
      state.fresh = true;
      return false;
    });
    if (!late) continue;
    collector = Make(shared, row);
    shared.state.Change([](ReadState& state) { state.hangs = false; });
  }
}

class BackgroundCollector : public Collector {
 public:
  BackgroundCollector(std::shared_ptr<BackgroundReads> shared, const BackgroundOptions& options)
      : shared_(std::move(shared)), options_(options), pace_(options.period) {}

  ~BackgroundCollector() override {
    shared_->state.Change([](ReadState& state) { state.stop = true; });
  }

  void Begin(SteadyTime now) override {
    begun_ = true;
    if (!pace_.Due(now)) return;
    awaits_ = shared_->state.Change([&](ReadState& state) {
      if (state.asked || state.failure) return false;
      state.asked = now;
      state.asked_at = SystemClock().Steady();
      return true;
    });
  }

  Status Collect(SteadyTime now, TickRow& row) override {
    if (!std::exchange(begun_, false)) Begin(now);
    begun_ = false;
    if (std::exchange(awaits_, false)) {
      const auto done = [](const ReadState& state) { return !state.asked || !state.started; };
      shared_->state.Wait({}, options_.reading, done);
    }
    return shared_->state.Change([&](ReadState& state) { return Take(state, row); });
  }

  std::vector<GpuFacts> Gpus() const override {
    return shared_->state.Read([](const ReadState& state) { return state.gpus; });
  }
  bool Starting() const override {
    return shared_->state.Read([](const ReadState& state) { return !state.started; });
  }
  bool Ended() const override {
    return shared_->state.Read([](const ReadState& state) { return state.failure.has_value(); });
  }
  std::string Shortfall() const override {
    return shared_->state.Read(
        [&](const ReadState& state) { return state.hangs ? Silence() : ""; });
  }

 private:
  Status Take(ReadState& state, TickRow& row) {
    if (state.failure) return *state.failure;
    const Duration patience = std::max(options_.hangs_after, 2 * options_.period);
    const SteadyTime until = state.asked_at + patience;
    if (state.asked && SystemClock().Steady() >= until) state.hangs = true;
    if (state.hangs) return Unavailable(Silence());
    if (std::exchange(state.fresh, false)) Show(state, row);
    return state.read;
  }

  void Show(const ReadState& state, TickRow& row) {
    if (std::exchange(makes_, state.makes) != state.makes) columns_.clear();
    for (std::size_t i = columns_.size(); i < state.row.size(); ++i) {
      columns_.push_back(ColumnOf(state.row.series()[i], row));
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) row.Copy(columns_[i], state.row, i);
  }

  static std::size_t ColumnOf(const SeriesName& name, TickRow& row) {
    const auto known = std::ranges::find(row.series(), name);
    if (known == row.series().end()) return row.Add(name.metric, name.device);
    return static_cast<std::size_t>(known - row.series().begin());
  }

  std::string Silence() const { return Format("{}: the driver does not answer", options_.name); }

  const std::shared_ptr<BackgroundReads> shared_;
  const BackgroundOptions options_;
  Pace pace_;
  bool begun_ = false, awaits_ = false;
  int makes_ = 0;
  std::vector<std::size_t> columns_;  // column of our row for each column of its own
};

}  // namespace

Result<std::unique_ptr<Collector>> CollectInBackground(MakeCollector make,
                                                       const BackgroundOptions& options) {
  const auto shared = std::make_shared<BackgroundReads>(std::move(make));
  if (!StartDetachedThread(options.name, [shared] { Serve(*shared); })) {
    return Unavailable(Format("{}: no thread", options.name));
  }
  auto collector = std::make_unique<BackgroundCollector>(shared, options);
  shared->state.Wait({}, options.start, [](const ReadState& state) { return state.started; });
  const auto failure = shared->state.Read([](const ReadState& state) { return state.failure; });
  if (failure) return *failure;
  return std::unique_ptr<Collector>(std::move(collector));
}

}  // namespace stepscope

#include "agent/collect/retried_collector.h"

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/aside.h"
#include "core/base/guarded.h"
#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr Duration kPeriod = 60s;

struct State {
  bool trying = false;
  std::string reason{};  // of the newest attempt
  std::unique_ptr<Collector> made{};
};

// Owned by the collector and by the thread of an attempt; whoever leaves last frees it.
struct Shared {
  const CollectorKind kind;
  const std::string root;
  Guarded<State> state{};
};

void Try(Shared& shared) {
  TickRow unused;
  auto made = shared.kind.make(shared.root, unused);
  shared.state.Change([&](State& state) {
    state.trying = false;
    if (made) {
      state.made = std::move(*made);
    } else {
      state.reason = made.error().message;
    }
  });
}

class RetriedCollector : public Collector {
 public:
  RetriedCollector(const CollectorKind& kind, const std::string& root, std::string reason)
      : shared_(std::make_shared<Shared>(kind, root)) {
    shared_->state.Change([&](State& state) { state.reason = std::move(reason); });
  }

  void Begin(SteadyTime now) override {
    if (owned_) owned_->Begin(now);
  }

  Status Collect(SteadyTime now, TickRow& row) override {
    if (!owned_) Look(now);
    return owned_ ? owned_->Collect(now, row) : Status();
  }

  std::vector<GpuFacts> Gpus() const override {
    const Collector* const source = source_;
    return source != nullptr ? source->Gpus() : std::vector<GpuFacts>();
  }
  void GpuProcessesInto(SteadyTime now, std::vector<GpuProcess>& processes) const override {
    if (const Collector* const source = source_) source->GpuProcessesInto(now, processes);
  }
  bool Starting() const override {
    const Collector* const source = source_;
    return source != nullptr && source->Starting();
  }
  std::string Shortfall() const override {
    if (const Collector* const source = source_) return source->Shortfall();
    return shared_->state.Read([](const State& state) { return state.reason; });
  }

 private:
  // Takes what an attempt has made, or begins one.
  void Look(SteadyTime now) {
    if (!due_) due_ = now + kPeriod;
    if (std::exchange(tried_, false)) Take();
    if (owned_ || now < *due_) return;
    due_ = now + kPeriod;
    const bool still =
        shared_->state.Change([](State& state) { return std::exchange(state.trying, true); });
    tried_ = true;
    if (still || RunAside(std::string(shared_->kind.name), [shared = shared_] { Try(*shared); }))
      return;
    shared_->state.Change([](State& state) { state.trying = false; });
  }

  void Take() {
    shared_->state.Change([this](State& state) {
      owned_ = std::move(state.made);
      tried_ = state.trying;
    });
    if (!owned_) return;
    LogInfo("{} samples from now on", shared_->kind.name);
    source_ = owned_.get();
  }

  const std::shared_ptr<Shared> shared_;
  std::optional<SteadyTime> due_;           // the next attempt
  bool tried_ = false;                      // there may be one whose end was not seen
  std::unique_ptr<Collector> owned_;        // the sampling thread's
  std::atomic<const Collector*> source_{};  // the same one, for the others: set once
};

}  // namespace

std::unique_ptr<Collector> RetryCollector(const CollectorKind& kind, const std::string& root,
                                          std::string reason) {
  return std::make_unique<RetriedCollector>(kind, root, std::move(reason));
}

}  // namespace stepscope

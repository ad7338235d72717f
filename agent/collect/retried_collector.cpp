#include "agent/collect/retried_collector.h"

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/detached_thread.h"
#include "core/base/guarded.h"
#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr Duration kPeriod = 60s;

struct RetryState {
  bool trying = false;
  std::string reason{};  // error of the newest attempt
  std::unique_ptr<Collector> made{};
};

// Owned by the collector and by the thread of an attempt; the last of them frees it.
struct RetriedSource {
  const CollectorKind kind;
  const std::string root;
  Guarded<RetryState> state{};
};

void Try(RetriedSource& shared) {
  TickRow unused;
  auto made = shared.kind.make(shared.root, unused);
  shared.state.Change([&](RetryState& state) {
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
  RetriedCollector(const CollectorKind& kind, const std::string& root,
                   Result<std::unique_ptr<Collector>> made, bool is_missed)
      : shared_(std::make_shared<RetriedSource>(kind, root)), is_missed_(is_missed) {
    if (made) {
      Read(std::move(*made));
    } else {
      shared_->state.Change([&](RetryState& state) { state.reason = made.error().message; });
    }
  }

  void Begin(SteadyTime now) override {
    if (owned_) owned_->Begin(now);
  }

  Status Collect(SteadyTime now, TickRow& row) override {
    if (!owned_) TryAgain(now);
    if (!owned_) return is_missed_ ? end_ : Status();
    const bool ended = owned_->Ended();  // asked first, so that the error is the last one
    Status collected = owned_->Collect(now, row);
    is_missed_ = is_missed_ || (collected && !owned_->Starting());
    if (!ended) return collected;
    End(collected);
    return is_missed_ ? end_ : Status();
  }

  std::vector<GpuFacts> Gpus() const override {
    const auto source = Source();
    return source ? source->Gpus() : std::vector<GpuFacts>();
  }
  void GpuProcessesInto(SteadyTime now, std::vector<GpuProcess>& processes) const override {
    if (const auto source = Source()) source->GpuProcessesInto(now, processes);
  }
  void KeepWithin(double core_share) override {
    core_share_ = core_share;
    if (owned_) owned_->KeepWithin(core_share);
  }
  std::vector<SlowedReading> Slowed() const override {
    const auto source = Source();
    return source ? source->Slowed() : std::vector<SlowedReading>();
  }
  bool Starting() const override {
    const auto source = Source();
    return source && source->Starting();
  }
  std::string Shortfall() const override {
    if (const auto source = Source()) return source->Shortfall();
    if (!is_missed_) return "";
    return shared_->state.Read([](const RetryState& state) { return state.reason; });
  }

 private:
  std::shared_ptr<const Collector> Source() const {
    return source_.Read([](const auto& source) { return source; });
  }

  // Another thread frees the previous source: its driver may hang.
  void Read(std::shared_ptr<Collector> source) {
    owned_.swap(source);
    if (owned_) owned_->KeepWithin(core_share_);
    source_.Change([this](auto& shown) { shown = owned_; });
    if (source)
      (void)StartDetachedThread(std::string(shared_->kind.name), [source = std::move(source)] {});
  }

  void End(const Status& last) {
    end_ = last;
    const std::string reason = last ? "it has ended" : last.error().message;
    shared_->state.Change([&](RetryState& state) { state.reason = reason; });
    Read(nullptr);
    due_.reset();
  }

  // Takes the result of an attempt, or begins one.
  void TryAgain(SteadyTime now) {
    if (!due_) due_ = now + kPeriod;
    if (std::exchange(tried_, false)) Take();
    if (owned_ || now < *due_) return;
    due_ = now + kPeriod;
    const bool still =
        shared_->state.Change([](RetryState& state) { return std::exchange(state.trying, true); });
    tried_ = true;
    const auto attempt = [shared = shared_] { Try(*shared); };
    if (still || StartDetachedThread(std::string(shared_->kind.name), attempt)) return;
    shared_->state.Change([](RetryState& state) { state.trying = false; });
  }

  void Take() {
    auto made = shared_->state.Change([this](RetryState& state) {
      tried_ = state.trying;
      return std::move(state.made);
    });
    if (!made) return;
    LogInfo("{} samples from now on", shared_->kind.name);
    end_ = Status();
    Read(std::move(made));
  }

  const std::shared_ptr<RetriedSource> shared_;
  std::atomic<bool> is_missed_;
  double core_share_ = kUsualCoreShare;
  std::optional<SteadyTime> due_;                     // time of the next attempt
  bool tried_ = false;                                // an attempt's result was not taken yet
  std::shared_ptr<Collector> owned_;                  // for the sampling thread
  Status end_;                                        // last status of the previous source
  Guarded<std::shared_ptr<const Collector>> source_;  // owned_, for other threads
};

}  // namespace

std::unique_ptr<Collector> RetryCollector(const CollectorKind& kind, const std::string& root,
                                          Result<std::unique_ptr<Collector>> made, bool is_missed) {
  return std::make_unique<RetriedCollector>(kind, root, std::move(made), is_missed);
}

}  // namespace stepscope

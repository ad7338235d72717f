#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/marks/intake.h"
#include "agent/marks/marks_process.h"
#include "agent/marks/marks_rank.h"
#include "agent/marks/window_spans.h"
#include "core/base/time.h"

namespace stepscope {

// The ranks of one job, and the connected processes that they consist of; borrows the processes.
// Not for use by several threads at once.
class JobRecord {
 public:
  explicit JobRecord(std::uint32_t user) : user_(user) {}

  // Whose job it is.
  std::uint32_t user() const { return user_; }
  bool Knows(std::int32_t rank) const { return ranks_.contains(rank); }
  std::size_t ranks() const { return ranks_.size(); }
  // No process is left, and no word of those that were.
  bool Done() const;
  std::vector<HeardProcess> Processes() const;

  // At most so many steps of each rank wait for a drain.
  void LimitSteps(std::size_t most);

  void Join(MarkProcess& process, Time now);
  void Detach(MarkProcess& process);
  void ReadRings();

  // As those of Intake, without reading.
  std::size_t Ask(const std::string& command, const std::string& argument);
  std::string KeepSpans(const SpanWindow& window, SteadyTime now);
  IntakeBatch Drain(Time now, SteadyTime steady);
  void TakeMetrics(const UseMetric& use);

 private:
  // What the service was told of a rank, beside what is yet to be told.
  struct Rank {
    RankRecord record;
    std::vector<MarkProcess*> processes;  // in the order in which they came
    std::string reported_facts;           // facts as last reported
    std::string pending;                  // facts that its last process left behind
    Time came{};                          // when it was first heard of since it last ended
    bool known = false;                   // reported as started, and not as ended since
  };

  // The spans that are kept, of all ranks.
  struct KeptWindow {
    SpanWindow window;
    SteadyTime until{};
    std::size_t room = Intake::kMostWindowSpans;
    bool settled = false;  // it was over when it was drained before
  };
  bool WindowIsOver(SteadyTime now);
  void EndWindow(Time now, IntakeBatch& batch);

  static std::string FactsOf(const Rank& rank);
  static void DrainRank(std::int32_t number, Rank& rank, Time now, IntakeBatch& batch);

  std::uint32_t user_;
  std::map<std::int32_t, Rank> ranks_;
  std::optional<KeptWindow> kept_;
  std::size_t most_steps_ = RankRecord::kMostPendingSteps;
};

}  // namespace stepscope

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

// The ranks of one job and their connected processes, which it borrows. Not for use by several
// threads at once.
class JobRecord {
 public:
  // `span_room`, which outlives it, is the number of further spans that all windows may keep.
  JobRecord(std::uint32_t user, std::size_t& span_room) : user_(user), span_room_(span_room) {}
  JobRecord(const JobRecord&) = delete;
  ~JobRecord();

  // The user who owns the job.
  std::uint32_t user() const { return user_; }
  bool Knows(std::int32_t rank) const { return ranks_.contains(rank); }
  std::size_t ranks() const { return ranks_.size(); }
  // No process is connected, and every end was reported.
  bool Done() const;
  std::vector<HeardProcess> Processes() const;

  // Bounds the steps of each rank that wait for a drain.
  void LimitSteps(std::size_t most);

  void Join(MarkProcess& process, Time now);
  // Both take in what `room`, which they lower, has room for.
  void Detach(MarkProcess& process, MarkRoom& room);
  void ReadRings(MarkRoom& room);

  // Sums of annotations that wait for a drain, in the ranks.
  std::size_t WaitingSums() const;
  // Memory that stays as long as the job is known, about.
  std::size_t Bytes() const;

  // Like the functions of Intake, without reading the rings.
  std::size_t Ask(const std::string& command, const std::string& argument);
  std::string KeepSpans(const SpanWindow& window, SteadyTime now);
  IntakeBatch Drain(Time now, SteadyTime steady);
  void TakeMetrics(const UseMetric& use);
  void TakeEvaluated(const UseEvaluated& use);

 private:
  // A rank, and the facts of it that were reported to the service.
  struct Rank {
    RankRecord record;
    std::vector<MarkProcess*> processes;  // in the order in which they connected
    std::string reported_facts;           // facts as last reported
    std::string pending;                  // facts of its last process, to be reported
    std::vector<RankTrace> traces;        // of processes that are gone
    std::string outcome;                  // what the last of these said of the window
    Time came{};                          // first connection since its last end
    bool known = false;                   // its start was reported, and no end since
  };

  // The window whose spans are kept, for all ranks.
  struct KeptWindow {
    SpanWindow window;
    SteadyTime until{};
    bool settled = false;                       // the window was over at the previous drain
    std::optional<SteadyTime> answers_until{};  // ranks that record operators are waited for
  };
  bool WindowIsOver(SteadyTime now);
  void AskForOperators(MarkProcess& process);
  bool AwaitsAnswers(SteadyTime now);
  static std::string OutcomeOf(const Rank& rank);
  void EndWindow(Time now, IntakeBatch& batch);

  static std::string FactsOf(const Rank& rank);
  static void DrainRank(std::int32_t number, Rank& rank, Time now, IntakeBatch& batch);

  std::uint32_t user_;
  std::size_t& span_room_;
  std::map<std::int32_t, Rank> ranks_;
  std::optional<KeptWindow> kept_;
  std::size_t most_steps_ = RankRecord::kMostPendingSteps;
};

}  // namespace stepscope

#include "agent/marks/marks_job.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/wire/push_answer.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestReason = 200;
constexpr std::size_t kMostTracesOfTheGone = 8;  // a rank's, until a drain takes them
constexpr Duration kAnswerWait = 30s;            // a trace is written after the last step

}  // namespace

JobRecord::~JobRecord() {
  for (auto& [number, rank] : ranks_) rank.record.spans().Close();
}

bool JobRecord::Done() const {
  return std::ranges::all_of(ranks_, [](const auto& entry) {
    const Rank& rank = entry.second;
    return rank.processes.empty() && rank.pending.empty() && rank.traces.empty() && !rank.known &&
           rank.record.Empty();
  });
}

std::vector<HeardProcess> JobRecord::Processes() const {
  std::vector<HeardProcess> processes;
  for (const auto& [number, rank] : ranks_) {
    for (const MarkProcess* process : rank.processes) processes.push_back(process->Heard());
  }
  return processes;
}

void JobRecord::LimitSteps(std::size_t most) {
  most_steps_ = most;
  for (auto& [number, rank] : ranks_) rank.record.LimitSteps(most);
}

void JobRecord::Join(MarkProcess& process, Time now) {
  Rank& rank = ranks_[process.rank()];
  rank.record.LimitSteps(most_steps_);
  if (rank.processes.empty() && !rank.known) rank.came = now;
  // No mark of it was read yet.
  if (kept_ && !rank.record.spans().open()) {
    rank.record.spans().Open(kept_->window, rank.record.newest(), false, span_room_);
  }
  rank.processes.push_back(&process);
  if (kept_ && !kept_->window.ask.empty()) AskForOperators(process);
}

void JobRecord::AskForOperators(MarkProcess& process) {
  process.Ask(std::string(kWindowCommand), kept_->window.ask);
}

void JobRecord::Detach(MarkProcess& process, MarkRoom& room) {
  Rank& rank = ranks_[process.rank()];
  // Reads all processes, so that a short-lived child does not get ahead of its parent.
  for (MarkProcess* each : rank.processes) each->ReadRings(rank.record, room);
  process.SkipMarks();
  rank.pending = FactsOf(rank);
  // Beyond the bound they stay with the process, which has them closed.
  if (rank.traces.size() < kMostTracesOfTheGone) {
    for (RankTrace& trace : process.TakeTraces()) rank.traces.push_back(std::move(trace));
  }
  if (!process.outcome().empty()) rank.outcome = process.outcome();
  process.Detach(rank.record, room);
  std::erase(rank.processes, &process);
  rank.record.spans().Settle();
  if (rank.processes.empty()) rank.record.spans().EndRank();
}

void JobRecord::ReadRings(MarkRoom& room) {
  for (auto& [number, rank] : ranks_) {
    for (MarkProcess* process : rank.processes) process->ReadRings(rank.record, room);
    rank.record.spans().Settle();
  }
}

std::size_t JobRecord::WaitingSums() const {
  std::size_t sums = 0;
  for (const auto& [number, rank] : ranks_) sums += rank.record.waiting_sums();
  return sums;
}

std::size_t JobRecord::Bytes() const {
  std::size_t bytes = 0;
  for (const auto& [number, rank] : ranks_) {
    bytes += rank.record.bytes() + rank.reported_facts.size() + rank.pending.size();
  }
  return bytes;
}

std::string JobRecord::FactsOf(const Rank& rank) {
  std::vector<const MarkSource*> all;
  for (const MarkProcess* process : rank.processes) all.push_back(&process->source());
  return rank.record.Facts(*all.front(), all);
}

void JobRecord::DrainRank(std::int32_t number, Rank& rank, Time now, IntakeBatch& batch) {
  const bool alive = !rank.processes.empty();
  std::string facts = alive ? FactsOf(rank) : std::exchange(rank.pending, "");
  if (!facts.empty() && facts != rank.reported_facts) {
    batch.rank_started.push_back({number, rank.known ? now : rank.came, facts});
    rank.reported_facts = std::move(facts);
    rank.known = true;
  }
  for (RankTrace& trace : std::exchange(rank.traces, {})) batch.traces.push_back(std::move(trace));
  for (MarkProcess* process : rank.processes) {
    for (RankTrace& trace : process->TakeTraces()) batch.traces.push_back(std::move(trace));
  }
  RankMarks marks = rank.record.Take(number);
  const bool any = !marks.steps.empty() || !marks.annotations.empty() || !marks.spans.rows.empty();
  if (any) batch.marks.push_back(std::move(marks));
  if (alive || !rank.known) return;
  batch.rank_ended.push_back({number, now});
  rank.known = false;
  rank.reported_facts.clear();
}

std::size_t JobRecord::Ask(const std::string& command, const std::string& argument) {
  std::size_t delivered = 0;
  for (auto& [number, rank] : ranks_) {
    for (MarkProcess* process : rank.processes)
      delivered += process->Ask(command, argument) ? 1 : 0;
  }
  return delivered;
}

void JobRecord::TakeMetrics(const UseMetric& use) {
  for (auto& [number, rank] : ranks_) rank.record.TakeMetrics(number, use);
}

void JobRecord::TakeEvaluated(const UseEvaluated& use) {
  for (auto& [number, rank] : ranks_) {
    const Duration evaluated = rank.record.TakeEvaluated();
    if (evaluated > Duration(0)) use(number, evaluated);
  }
}

// The rings have been read by the caller.
std::string JobRecord::KeepSpans(const SpanWindow& window, SteadyTime now) {
  if (kept_) return Format("window {} is being recorded", kept_->window.window_id);
  kept_.emplace(KeptWindow{window, now + window.wait});
  for (auto& [number, rank] : ranks_) {
    if (rank.processes.empty()) continue;
    rank.record.spans().Open(window, rank.record.newest(), true, span_room_);
    if (window.ask.empty()) continue;
    for (MarkProcess* process : rank.processes) AskForOperators(*process);
  }
  return "";
}

// Marks of other threads in the last step may be read one drain later than the step.
bool JobRecord::WindowIsOver(SteadyTime now) {
  if (now >= kept_->until) return true;
  bool any = false, alive = false;
  for (auto& [number, rank] : ranks_) {
    if (!rank.record.spans().open()) continue;
    if (!rank.record.spans().Over()) {
      // A rank that may never have steps is not waited for.
      if (!rank.record.spans().HasSteps()) continue;
      return kept_->settled = false;
    }
    any = true;
    alive = alive || (!rank.processes.empty() && rank.record.spans().Recorded());
  }
  if (any && !kept_->window.ask.empty() && AwaitsAnswers(now)) return false;
  return any && (std::exchange(kept_->settled, true) || !alive);
}

// The ranks say what became of their traces when these are written.
bool JobRecord::AwaitsAnswers(SteadyTime now) {
  if (!kept_->answers_until) kept_->answers_until = now + kAnswerWait;
  if (now >= *kept_->answers_until) return false;
  return std::ranges::any_of(ranks_, [](const auto& entry) {
    return std::ranges::any_of(entry.second.processes,
                               [](const MarkProcess* each) { return each->OwesAnswer(); });
  });
}

std::string JobRecord::OutcomeOf(const Rank& rank) {
  for (const MarkProcess* process : rank.processes) {
    if (process->OwesAnswer()) return "no word of its operators came";
    if (!process->outcome().empty()) return "operators " + process->outcome();
  }
  return rank.outcome.empty() ? "" : "operators " + rank.outcome;
}

void JobRecord::EndWindow(Time now, IntakeBatch& batch) {
  SpanWindowEnd end{.command = kept_->window.command, .at = now, .reason = ""};
  bool any = false;
  for (auto& [number, rank] : ranks_) {
    WindowSpans& spans = rank.record.spans();
    if (!spans.open()) continue;
    any = true;
    end.recorded = end.recorded || spans.Recorded();
    end.spans += spans.spans();
    end.dropped += spans.dropped();
    std::string shortfall = spans.Shortfall();
    const std::string outcome = !kept_->window.ask.empty() ? OutcomeOf(rank) : "";
    if (!outcome.empty()) shortfall += (shortfall.empty() ? "" : ", ") + outcome;
    rank.outcome.clear();
    if (!shortfall.empty() && end.reason.size() < kLongestReason) {
      end.reason += Format("{}rank {}: {}", end.reason.empty() ? "" : "; ", number, shortfall);
    }
    spans.Close();
  }
  if (!any) end.reason = "no training process came";
  const std::string& remark = kept_->window.remark;
  if (!remark.empty()) end.reason += (end.reason.empty() ? "" : "; ") + remark;
  batch.window_ended = std::move(end);
  kept_.reset();
}

IntakeBatch JobRecord::Drain(Time now, SteadyTime steady) {
  IntakeBatch batch;
  for (auto& [number, rank] : ranks_) DrainRank(number, rank, now, batch);
  if (kept_ && WindowIsOver(steady)) EndWindow(now, batch);
  return batch;
}

}  // namespace stepscope

#include "agent/marks/marks_job.h"

#include <algorithm>
#include <utility>

namespace stepscope {

bool JobRecord::Done() const {
  return std::ranges::all_of(ranks_, [](const auto& entry) {
    const Rank& rank = entry.second;
    return rank.processes.empty() && rank.pending.empty() && !rank.known && rank.record.Empty();
  });
}

std::vector<HeardProcess> JobRecord::Processes() const {
  std::vector<HeardProcess> processes;
  for (const auto& [number, rank] : ranks_) {
    for (const MarkProcess* process : rank.processes) {
      processes.push_back({number, process->source().pid, process->source().hello.devices});
    }
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
  rank.processes.push_back(&process);
}

void JobRecord::Leave(MarkProcess& process) {
  Rank& rank = ranks_[process.rank()];
  // All of them, so that a short-lived child does not get ahead of the process it came from.
  for (MarkProcess* each : rank.processes) each->ReadRings(rank.record);
  rank.pending = FactsOf(rank);
  process.Leave(rank.record);
  std::erase(rank.processes, &process);
}

void JobRecord::ReadRings() {
  for (auto& [number, rank] : ranks_) {
    for (MarkProcess* process : rank.processes) process->ReadRings(rank.record);
  }
}

std::string JobRecord::FactsOf(const Rank& rank) {
  std::vector<const MarkSource*> all;
  for (const MarkProcess* process : rank.processes) all.push_back(&process->source());
  return rank.record.Facts(*all.front(), all);
}

void JobRecord::DrainRank(std::int32_t number, Rank& rank, Time now, IntakeBatch& batch) {
  const bool alive = !rank.processes.empty();
  std::string facts = alive ? FactsOf(rank) : std::exchange(rank.pending, "");
  if (!facts.empty() && facts != rank.told) {
    batch.rank_started.push_back({number, rank.known ? now : rank.came, facts});
    rank.told = std::move(facts);
    rank.known = true;
  }
  RankMarks marks = rank.record.Take(number);
  if (!marks.steps.empty() || !marks.annotations.empty()) batch.marks.push_back(std::move(marks));
  if (alive || !rank.known) return;
  batch.rank_ended.push_back({number, now});
  rank.known = false;
  rank.told.clear();
}

std::size_t JobRecord::Ask(const std::string& command, const std::string& argument) {
  std::size_t told = 0;
  for (auto& [number, rank] : ranks_) {
    for (MarkProcess* process : rank.processes) told += process->Ask(command, argument) ? 1 : 0;
  }
  return told;
}

std::vector<RankMetric> JobRecord::TakeMetrics() {
  std::vector<RankMetric> metrics;
  for (auto& [number, rank] : ranks_) rank.record.TakeMetrics(number, metrics);
  return metrics;
}

IntakeBatch JobRecord::Drain(Time now) {
  IntakeBatch batch;
  for (auto& [number, rank] : ranks_) DrainRank(number, rank, now, batch);
  return batch;
}

}  // namespace stepscope

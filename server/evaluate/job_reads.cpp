#include "server/evaluate/job_reads.h"

#include "server/evaluate/presence.h"

namespace stepscope {

Result<JobReads::Ticks> JobReads::ReadTicks(std::int64_t node_id, std::int64_t after_us,
                                            std::int64_t until_us, std::size_t most) {
  Ticks& kept = ticks_[{node_id, after_us, until_us, most}];
  if (kept) return kept;
  TickQuery query;
  query.job_id = job_id_;
  query.node_id = node_id;
  query.after_us = after_us;
  query.until_us = until_us;
  query.filter.metrics = metrics_;
  query.most_rows = most;
  auto table = stepscope::ReadTicks(connection_, query);
  if (!table.ok()) return table.error();
  kept = std::make_shared<const TickTable>(std::move(*table));
  return kept;
}

Status JobReads::FetchSteps(std::span<const StepPosition> places, std::size_t most) {
  std::vector<StepPosition> wanted;
  for (const StepPosition& place : places) {
    if (!steps_.contains({place.rank, place.after_us, most})) wanted.push_back(place);
  }
  if (wanted.size() < 2 || !few_) return {};
  auto found = ReadNewSteps(connection_, job_id_, wanted, ToMicros(kLatestTime));
  if (!found.ok()) return found.error();
  few_ = found->has_value();
  if (!few_) return {};
  for (const StepPosition& place : wanted) {
    std::vector<Step>& steps = (**found)[place.rank];
    if (steps.size() > most) continue;  // ReadSteps knows where they may be cut
    steps_[{place.rank, place.after_us, most}] =
        std::make_shared<const std::vector<Step>>(std::move(steps));
  }
  return {};
}

Result<JobReads::Steps> JobReads::ReadSteps(int rank, std::int64_t after_us, std::size_t most) {
  Steps& kept = steps_[{rank, after_us, most}];
  if (kept) return kept;
  StepQuery query;
  query.job_id = job_id_;
  query.rank = rank;
  query.after_us = after_us;
  query.until_us = ToMicros(kLatestTime);
  query.most_rows = most;
  auto steps = stepscope::ReadSteps(connection_, query);
  if (!steps.ok()) return steps.error();
  kept = std::make_shared<const std::vector<Step>>(std::move(*steps));
  return kept;
}

}  // namespace stepscope

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

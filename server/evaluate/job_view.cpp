#include "server/evaluate/job_view.h"

#include <utility>

#include "server/evaluate/window_facts.h"
#include "server/store/ticks/job_head.h"

namespace stepscope {

// Reads the job first: once it has ended, all that is read after it is complete. Reads ranges
// before ranks and steps, so that the steps of every tick are stored.
Result<JobView> LoadView(Connection& connection, std::int64_t job_id, Time now, Duration silence) {
  auto job = LoadJob(connection, job_id);
  if (!job.ok()) return job.error();
  const auto ranges = ReadTickRanges(connection, job_id);
  if (!ranges.ok()) return ranges.error();
  const auto nodes = ListNodes(connection, job_id, kJudgedNodeFacts);
  if (!nodes.ok()) return nodes.error();
  JobFacts facts = FactsOf(*job, *nodes);
  std::vector<RankRow> ranks;
  const NodeNames names = NamesOf(*nodes);
  const auto take = [&](std::vector<RankRow> some) {
    AddRanks(*job, names, some, facts);
    for (RankRow& rank : some) {
      rank.facts = Json();
      ranks.push_back(std::move(rank));
    }
  };
  const Status read = ReadRanksInPieces(connection, job_id, kJudgedRankFacts, take);
  if (!read.ok()) return read.error();
  auto windows = ReadWindowFacts(connection, job_id);
  if (!windows.ok()) return windows.error();
  facts.windows = std::move(*windows);
  return JobView{std::move(*job), std::move(facts), PresenceOf(*nodes, *ranges, now, silence),
                 std::move(ranks)};
}

std::optional<Time> SettledHorizon(const JobView& view, Duration settle) {
  const bool ended = HasEnded(view.job.status);
  auto horizon = HorizonOf(view.nodes, ended);
  if (horizon && !ended) *horizon -= settle;
  return horizon;
}

}  // namespace stepscope

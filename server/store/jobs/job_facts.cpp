#include "server/store/jobs/job_facts.h"

#include "core/base/text.h"
#include "server/store/frames/streams_of_job.h"
#include "server/store/jobs/silences.h"
#include "server/store/postgres/arrays.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kNodeStarted[] = R"(
update nodes
set facts = case when facts ? 'last_command'
        then jsonb_set($3::jsonb, '{last_command}', facts -> 'last_command')
        else $3::jsonb end,
    ended_us = null, exit_code = null, exit_signal = null, output = null
where job_id = $1 and node_id = $2)";
constexpr char kAddNodeFacts[] = R"(
update nodes
set facts = facts || $3
where job_id = $1 and node_id = $2)";
constexpr char kNodeEnded[] = R"(
update nodes
set ended_us = $3, exit_code = $4, exit_signal = $5, output = $6
where job_id = $1 and node_id = $2)";
constexpr char kRankStarted[] = R"(
insert into ranks (job_id, rank, node_id, facts, first_seen_us)
values ($1, $2, $3, $4, $5)
on conflict (job_id, rank) do update
set node_id = excluded.node_id, facts = excluded.facts, ended_us = null)";
constexpr char kLivingNode[] = R"(
select node_id
from ranks
join nodes using (job_id, node_id)
where job_id = $1 and rank = $2 and node_id <> $3 and ranks.ended_us is null
    and nodes.ended_us is null and last_seen_us >= $4)";
constexpr char kRankEnded[] = R"(
update ranks
set ended_us = $3
where job_id = $1 and rank = $2 and node_id = $4)";
constexpr char kRanksSeen[] = R"(
insert into ranks (job_id, rank, node_id, first_seen_us)
select job_id, rank, node_id, at_us
from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
    as given (job_id, rank, node_id, at_us)
order by job_id, rank
on conflict do nothing)";
// Few ranks of one job come as values, many by way of its nodes, as its frames do.
constexpr char kFewRanksSeen[] = R"(
insert into ranks (job_id, rank, node_id, first_seen_us)
values {}
on conflict do nothing)";
constexpr char kRanksSeenOfJob[] = R"(
insert into ranks (job_id, rank, node_id, first_seen_us)
select n.job_id, given.rank, n.node_id, given.at_us
from nodes n
join unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
    as given (job_id, rank, node_id, at_us) on given.node_id = n.node_id
where n.job_id = $5
order by n.job_id, given.rank
on conflict do nothing)";
constexpr char kJobStarted[] = R"(
update jobs
set started_us = $2
where job_id = $1 and started_us is null)";
constexpr char kListSilent[] = R"(
select job_id
from jobs
join nodes using (job_id)
where status in ('InProgress', 'Stopping')
group by job_id
having max(last_seen_us) < $1
order by max(last_seen_us), job_id
limit 100)";

Statement FewRanksSeen(std::span<const RankSighting> ranks) {
  Statement insert{Format(kFewRanksSeen, PlacesOf(ranks.size(), 4)), {}};
  for (const RankSighting& r : ranks) {
    insert.parameters.insert(insert.parameters.end(), {r.job_id, r.rank, r.node_id, r.at_us});
  }
  return insert;
}

}  // namespace

Status NodeStarted(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                   const Json& facts) {
  return Done(connection.Query(kNodeStarted, {job_id, node_id, Dump(facts)}));
}

Status AddNodeFacts(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                    const Json& facts) {
  return Done(connection.Query(kAddNodeFacts, {job_id, node_id, Dump(facts)}));
}

Status NodeEnded(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                 const NodeEnd& end) {
  return Done(connection.Query(
      kNodeEnded, {job_id, node_id, end.at_us, end.exit_code, end.exit_signal, Dump(end.output)}));
}

Result<bool> RankStarted(Connection& connection, std::int64_t job_id, const StartedRank& started,
                         const Json& facts, std::int64_t now_us) {
  const Result<Rows> living = connection.QueryByKey(
      kLivingNode,
      {job_id, std::int64_t{started.rank}, started.node_id, now_us - kSilentAfter / 1us});
  if (!living) return living.error();
  if (!living->empty()) return false;
  const Status done = Done(connection.Query(
      kRankStarted, {job_id, started.rank, started.node_id, Dump(facts), started.at_us}));
  return done ? Result<bool>(true) : done.error();
}

Result<bool> RankEnded(Connection& connection, std::int64_t job_id, int rank, std::int64_t node_id,
                       std::int64_t at_us) {
  const Result<Rows> ended = connection.Query(kRankEnded, {job_id, rank, at_us, node_id});
  if (!ended) return ended.error();
  return ended->affected() == 1;
}

Statement RanksSeen(std::span<const RankSighting> ranks, Placement placement) {
  const auto job = placement == Placement::kByJob ? OneJobOf(ranks) : std::nullopt;
  if (job && ranks.size() <= kMostRowsOfValues) return FewRanksSeen(ranks);
  Statement insert{kRanksSeen,
                   {Numbers(ranks, [](const RankSighting& r) { return r.job_id; }),
                    Numbers(ranks, [](const RankSighting& r) { return r.rank; }),
                    Numbers(ranks, [](const RankSighting& r) { return r.node_id; }),
                    Numbers(ranks, [](const RankSighting& r) { return r.at_us; })}};
  if (!job) return insert;
  insert.sql = kRanksSeenOfJob;
  insert.parameters.emplace_back(*job);
  return insert;
}

Result<bool> JobStarted(Connection& connection, std::int64_t job_id, std::int64_t at_us) {
  const Result<Rows> started = connection.Query(kJobStarted, {job_id, at_us});
  if (!started) return started.error();
  return started->affected() == 1;
}

Result<std::vector<std::int64_t>> ListSilentJobs(Connection& connection, std::int64_t before_us) {
  const Result<Rows> rows = connection.Query(kListSilent, {before_us});
  if (!rows) return rows.error();
  std::vector<std::int64_t> jobs;
  for (std::size_t i = 0; i < rows->size(); ++i) jobs.push_back(rows->Int(i, 0));
  return jobs;
}

}  // namespace stepscope

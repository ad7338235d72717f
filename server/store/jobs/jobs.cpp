#include "server/store/jobs/jobs.h"

#include "core/base/text.h"
#include "server/store/jobs/job_rows.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kCountNewJobs[] = R"(
select count(*)
from jobs
where created_by = $1 and created_by <> '' and created_us > $2)";
// The facts of a row that are asked for.
constexpr std::string_view kPickedFacts = R"(
(select coalesce(jsonb_object_agg(key,
        case when octet_length(value::text) <= $3 then value
            when octet_length((value -> 0)::text) <= $3 then jsonb_build_object(
                'count', jsonb_array_length(value), 'first', value -> 0) end), '{}')
 from jsonb_each(facts)
 where key = any($2)))";
// All facts of the first rows. Their size is that in the table, which is cheap to ask for: packed
// ones take more in the answer, so rows are counted, too. As text, which Citus hands on as it is;
// JSON it reads and writes once more.
constexpr std::string_view kBoundedFacts = R"(
case when row_number() over rows <= $2
    and sum(pg_column_size(facts)) over rows <= $3 then facts::text end)";
constexpr std::int64_t kMostNodesTold = 500, kMostRanksTold = 2'000;
constexpr std::int64_t kRanksInAPiece = 2'000;            // with up to 4 KiB of facts each
constexpr std::int64_t kMostFactBytes = 4 * 1024 * 1024;  // of nodes, and of ranks

std::string NodesSql(std::string_view facts, std::string_view window) {
  return Format(R"(
select node_id, name, {}, facts <> '{{}}', first_seen_us, last_seen_us, clock_offset_us,
    round_trip_us, ended_us, exit_code, exit_signal, clock_suspect_since_us,
    clock_suspect_until_us, clock_suspect_offset_us
from nodes
where job_id = $1
{}
order by name
limit {})",
                facts, window, kMostJobNodes);
}

std::string RanksSql(std::string_view facts, std::string_view further,
                     std::int64_t most = kMostJobRanks) {
  return Format(R"(
select rank, node_id, {}, first_seen_us, ended_us
from ranks
where job_id = $1
{}
order by rank
limit {})",
                facts, further, most);
}

constexpr char kFirstRank[] = "select rank from ranks where job_id = $1 order by rank limit 1";
constexpr char kListTransitions[] = R"(
select rule_config_id, version, status, secondary_status, detail, at_us
from status_transitions
where job_id = $1
order by at_us, rule_config_id, version
limit 100000)";

Result<JobRow> One(Result<Rows> rows, const std::string& what) {
  if (!rows) return rows.error();
  if (rows->empty()) return NotFound(Format("job {} not found", what));
  return ReadJob(*rows, 0);
}

Statement PickedBy(const std::string& sql, std::int64_t job_id, FactNames names) {
  return {sql,
          {job_id, Parameter::Array(std::vector<std::string>(names.begin(), names.end())),
           static_cast<std::int64_t>(kLongestFact)}};
}

}  // namespace

std::vector<NodeRow> ReadNodeRows(const Rows& rows) {
  std::vector<NodeRow> nodes;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    NodeRow& node = nodes.emplace_back();
    node.node_id = rows.Int(i, 0);
    node.name = rows.Text(i, 1);
    node.facts = ReadJson(rows, i, 2);
    node.has_agent = rows.Bool(i, 3);
    node.first_seen_us = rows.Int(i, 4);
    node.last_seen_us = rows.Int(i, 5);
    node.clock_offset_us = rows.Int(i, 6);
    node.round_trip_us = rows.Int(i, 7);
    node.ended_us = rows.MaybeInt(i, 8);
    node.exit_code = rows.MaybeInt(i, 9);
    node.exit_signal = rows.MaybeInt(i, 10);
    if (const auto since_us = rows.MaybeInt(i, 11)) {
      node.clock_suspect = {*since_us, rows.Int(i, 12), rows.Int(i, 13)};
    }
  }
  return nodes;
}

std::vector<RankRow> ReadRankRows(const Rows& rows) {
  std::vector<RankRow> ranks;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ranks.push_back({static_cast<int>(rows.Int(i, 0)), rows.Int(i, 1), ReadJson(rows, i, 2),
                     rows.Int(i, 3), rows.MaybeInt(i, 4)});
  }
  return ranks;
}

std::vector<TransitionRow> ReadTransitionRows(const Rows& rows) {
  std::vector<TransitionRow> transitions;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    transitions.push_back({rows.Int(i, 0), rows.Int(i, 1), rows.Text(i, 2), rows.Text(i, 3),
                           rows.Text(i, 4), rows.Int(i, 5)});
  }
  return transitions;
}

JobRow ReadJob(const Rows& rows, std::size_t row) {
  JobRow job;
  job.job_id = rows.Int(row, 0);
  job.name = rows.Text(row, 1);
  job.group = rows.Text(row, 2);
  job.status = ParseJobStatus(rows.Text(row, 3)).value_or(JobStatus::kInProgress);
  job.secondary_status = rows.Text(row, 4);
  job.configuration = ReadJson(rows, row, 5);
  job.created_us = rows.Int(row, 6);
  job.started_us = rows.MaybeInt(row, 7);
  job.ended_us = rows.MaybeInt(row, 8);
  job.failure = ReadJson(rows, row, 9);
  job.samples_from_us = rows.MaybeInt(row, 10);
  job.stop_requests = rows.Int(row, 11);
  job.created_by = rows.Text(row, 16);
  job.window = {rows.Int(row, 12), rows.Int(row, 13),  rows.Int(row, 14),
                rows.Int(row, 15), rows.Bool(row, 17), rows.Bool(row, 18)};
  return job;
}

Result<std::int64_t> CountNewJobs(Connection& connection, const std::string& created_by,
                                  std::int64_t since_us) {
  const Result<Rows> rows = connection.Query(kCountNewJobs, {created_by, since_us});
  return rows ? Result<std::int64_t>(rows->Int(0, 0)) : rows.error();
}

Result<JobRow> FindJob(Connection& connection, const std::string& name) {
  static const std::string sql = Format("select {} from jobs where name = $1", kJobColumns);
  return One(connection.QueryByKey(sql, {name}), Printable(name));
}

Result<JobRow> LoadJob(Connection& connection, std::int64_t job_id) {
  static const std::string sql = Format("select {} from jobs where job_id = $1", kJobColumns);
  return One(connection.QueryByKey(sql, {job_id}), Format("{}", job_id));
}

Statement FindJobs(const std::vector<std::string>& names) {
  static const std::string sql =
      Format("select {} from jobs where name = any($1) order by name limit 10000", kJobColumns);
  return {sql, {Parameter::Array(names)}};
}

std::vector<JobRow> ReadJobs(const Rows& rows) {
  std::vector<JobRow> jobs;
  for (std::size_t i = 0; i < rows.size(); ++i) jobs.push_back(ReadJob(rows, i));
  return jobs;
}

ListFact ListIn(const Json& facts, const char* name) {
  const auto found = facts.is_object() ? facts.find(name) : facts.end();
  if (!facts.is_object() || found == facts.end()) return {};
  if (found->is_array()) return {found->size(), found->empty() ? Json() : found->front()};
  const auto count = found->is_object() ? found->find("count") : found->end();
  const bool is_list = found->is_object() && count != found->end() && count->is_number_unsigned() &&
                       found->contains("first");
  return is_list ? ListFact{count->get<std::size_t>(), (*found)["first"]} : ListFact();
}

Result<std::vector<NodeRow>> ListNodes(Connection& connection, std::int64_t job_id,
                                       FactNames names) {
  static const std::string picked = NodesSql(kPickedFacts, ""), none = NodesSql("'{}'::jsonb", "");
  const Result<Rows> rows = names.empty() ? connection.QueryByKey(none, {job_id})
                                          : connection.QueryByKey(PickedBy(picked, job_id, names));
  return rows ? Result(ReadNodeRows(*rows)) : rows.error();
}

Result<std::vector<RankRow>> ListRanks(Connection& connection, std::int64_t job_id,
                                       FactNames names) {
  static const std::string picked = RanksSql(kPickedFacts, ""), none = RanksSql("'{}'::jsonb", "");
  const Result<Rows> rows = names.empty() ? connection.QueryByKey(none, {job_id})
                                          : connection.QueryByKey(PickedBy(picked, job_id, names));
  return rows ? Result(ReadRankRows(*rows)) : rows.error();
}

Status ReadRanksInPieces(Connection& connection, std::int64_t job_id, FactNames names,
                         const TakeRanks& take) {
  static const std::string sql = RanksSql(kPickedFacts, "and rank > $4", kRanksInAPiece);
  for (std::int64_t after = -1, left = kMostJobRanks; left > 0; left -= kRanksInAPiece) {
    Statement piece = PickedBy(sql, job_id, names);
    piece.parameters.emplace_back(after);
    const Result<Rows> rows = connection.QueryByKey(piece);
    if (!rows) return rows.error();
    std::vector<RankRow> some = ReadRankRows(*rows);
    const auto got = std::ssize(some);
    if (got > 0) after = some.back().rank;
    if (got > 0) take(std::move(some));
    if (got < kRanksInAPiece) break;
  }
  return {};
}

Statement NodesWithFacts(std::int64_t job_id) {
  static const std::string sql = NodesSql(kBoundedFacts, "window rows as (order by name)");
  return {sql, {job_id, kMostNodesTold, kMostFactBytes}};
}

Statement RanksWithFacts(std::int64_t job_id) {
  static const std::string sql = RanksSql(kBoundedFacts, "window rows as (order by rank)");
  return {sql, {job_id, kMostRanksTold, kMostFactBytes}};
}

Result<std::optional<int>> FirstRank(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.QueryByKey(kFirstRank, {job_id});
  if (!rows) return rows.error();
  return rows->empty() ? std::nullopt : std::optional(static_cast<int>(rows->Int(0, 0)));
}

Statement TransitionsOf(std::int64_t job_id) {
  return {kListTransitions, {job_id}};
}

Result<std::vector<TransitionRow>> ListTransitions(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.QueryByKey(TransitionsOf(job_id));
  return rows ? Result(ReadTransitionRows(*rows)) : rows.error();
}

}  // namespace stepscope

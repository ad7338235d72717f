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
constexpr char kListNodes[] = R"(
select node_id, name, facts, first_seen_us, last_seen_us, clock_offset_us, round_trip_us,
    ended_us, exit_code, exit_signal, output
from nodes
where job_id = $1
order by name
limit 10000)";
constexpr char kListRanks[] = R"(
select rank, node_id, facts, first_seen_us, ended_us
from ranks
where job_id = $1
order by rank
limit 100000)";
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

}  // namespace

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
  job.window = {rows.Int(row, 12), rows.Int(row, 13), rows.Int(row, 14), rows.Int(row, 15)};
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

Result<std::vector<NodeRow>> ListNodes(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.QueryByKey(kListNodes, {job_id});
  if (!rows) return rows.error();
  std::vector<NodeRow> nodes;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    NodeRow& node = nodes.emplace_back();
    node.node_id = rows->Int(i, 0);
    node.name = rows->Text(i, 1);
    node.facts = ReadJson(*rows, i, 2);
    node.first_seen_us = rows->Int(i, 3);
    node.last_seen_us = rows->Int(i, 4);
    node.clock_offset_us = rows->Int(i, 5);
    node.round_trip_us = rows->Int(i, 6);
    node.ended_us = rows->MaybeInt(i, 7);
    node.exit_code = rows->MaybeInt(i, 8);
    node.exit_signal = rows->MaybeInt(i, 9);
    node.output = ReadJson(*rows, i, 10);
  }
  return nodes;
}

Result<std::vector<RankRow>> ListRanks(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.QueryByKey(kListRanks, {job_id});
  if (!rows) return rows.error();
  std::vector<RankRow> ranks;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    ranks.push_back({static_cast<int>(rows->Int(i, 0)), rows->Int(i, 1), ReadJson(*rows, i, 2),
                     rows->Int(i, 3), rows->MaybeInt(i, 4)});
  }
  return ranks;
}

Result<std::vector<TransitionRow>> ListTransitions(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.Query(kListTransitions, {job_id});
  if (!rows) return rows.error();
  std::vector<TransitionRow> transitions;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    transitions.push_back({rows->Int(i, 0), rows->Int(i, 1), rows->Text(i, 2), rows->Text(i, 3),
                           rows->Text(i, 4), rows->Int(i, 5)});
  }
  return transitions;
}

}  // namespace stepscope

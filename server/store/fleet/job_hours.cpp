#include "server/store/fleet/job_hours.h"

#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

// A job that is judged once more, as after an update of the service, is settled no longer.
constexpr char kUnsummed[] = R"(
select j.job_id, closed_us, not exists (
    select 1
    from rule_tasks t
    where t.job_id = j.job_id and t.state <> 'done')
from jobs j
left join job_hours h on h.job_id = j.job_id
where h.job_id is null
    or (h.written_us < $1 and (not h.settled or h.job_id in (
        select job_id
        from rule_tasks
        where state <> 'done')))
order by j.job_id
limit $2)";
constexpr char kRules[] = R"(
select rule, status, coalesce(verdict ->> 'kind', ''),
    case when rule = 'ProfilerReport' then verdict end,
    case when jsonb_typeof(parameters -> 'price_per_gpu_hour') = 'number'
        then (parameters -> 'price_per_gpu_hour')::float8 else 0::float8 end
from rule_configs
join rule_states using (job_id, rule_config_id)
where job_id = $1
order by rule_config_id
limit 1000)";
// By way of the row of the job, which is gone first when a job is deleted.
constexpr char kSave[] = R"(
insert into job_hours (job_id, name, job_group, user_name, account, gpu, nodes, gpus, from_us,
    to_us, ended, judged_seconds, busy_seconds, lost_seconds, verdict, issues, price, sentence,
    settled, written_us)
select job_id, name, job_group, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
    $17, $18
from jobs
where job_id = $1
on conflict (job_id) do update
set user_name = excluded.user_name, account = excluded.account, gpu = excluded.gpu,
    nodes = excluded.nodes, gpus = excluded.gpus, from_us = excluded.from_us,
    to_us = excluded.to_us, ended = excluded.ended, judged_seconds = excluded.judged_seconds,
    busy_seconds = excluded.busy_seconds, lost_seconds = excluded.lost_seconds,
    verdict = excluded.verdict, issues = excluded.issues, price = excluded.price,
    sentence = excluded.sentence, settled = excluded.settled, written_us = excluded.written_us)";
constexpr char kUnsettle[] = "update job_hours set settled = false where job_id = $1";
constexpr char kRead[] = R"(
select job_id, name, job_group, user_name, account, gpu, nodes::bigint, gpus::bigint, from_us,
    to_us, ended, judged_seconds, busy_seconds, lost_seconds, verdict, issues::bigint, price,
    settled, written_us
from job_hours
where written_us >= $1 and job_id < $2
order by job_id desc
limit $3)";
constexpr char kNodes[] = R"(
select job_id, name, case when jsonb_typeof(facts -> 'gpus') = 'array'
    then jsonb_array_length(facts -> 'gpus') else 0 end::bigint
from nodes
where job_id = any($1::bigint[])
order by job_id, name
limit 1000000)";
constexpr char kCount[] = "select count(*) from job_hours";
constexpr char kSentences[] = R"(
select job_id, sentence
from job_hours
where job_id = any($1::bigint[])
order by job_id
limit 1000)";

JobHours ReadHours(const Rows& rows, std::size_t row) {
  JobHours hours;
  hours.job_id = rows.Int(row, 0);
  hours.name = rows.Text(row, 1);
  hours.group = rows.Text(row, 2);
  hours.user = rows.Text(row, 3);
  hours.account = rows.Text(row, 4);
  hours.gpu = rows.Text(row, 5);
  hours.nodes = rows.Int(row, 6);
  hours.gpus = rows.Int(row, 7);
  hours.from_us = rows.MaybeInt(row, 8);
  hours.to_us = rows.MaybeInt(row, 9);
  hours.ended = rows.Bool(row, 10);
  if (!rows.IsNull(row, 11)) hours.judged_seconds = rows.Real(row, 11);
  hours.busy_seconds = rows.Real(row, 12);
  const Json lost = ReadJson(rows, row, 13);
  for (const auto& [cause, seconds] : lost.items()) {
    if (seconds.is_number()) hours.lost_seconds.emplace_back(cause, seconds.get<double>());
  }
  hours.verdict = rows.Text(row, 14);
  hours.issues = rows.Int(row, 15);
  hours.price = rows.Real(row, 16);
  hours.settled = rows.Bool(row, 17);
  hours.written_us = rows.Int(row, 18);
  return hours;
}

// Of jobs with the highest numbers first.
Status AddNodes(Connection& connection, std::vector<JobHours>& hours) {
  std::vector<std::int64_t> ids;
  for (const JobHours& each : hours) ids.push_back(each.job_id);
  const Result<Rows> rows = connection.Query(kNodes, {Parameter::Array(ids)});
  if (!rows) return rows.error();
  auto job = hours.rbegin();
  for (std::size_t i = 0; i < rows->size(); ++i) {
    while (job != hours.rend() && job->job_id < rows->Int(i, 0)) ++job;
    if (job == hours.rend()) break;
    if (job->job_id == rows->Int(i, 0)) {
      job->node_gpus.emplace_back(rows->Text(i, 1), rows->Int(i, 2));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<UnsummedJob>> ListUnsummedJobs(Connection& connection, std::int64_t before_us,
                                                  int most) {
  const Result<Rows> rows = connection.Query(kUnsummed, {before_us, most});
  if (!rows) return rows.error();
  std::vector<UnsummedJob> jobs;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    jobs.push_back({rows->Int(i, 0), rows->Bool(i, 2), rows->MaybeInt(i, 1)});
  }
  return jobs;
}

Result<std::vector<JudgedRule>> ListJudgedRules(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.QueryByKey(kRules, {job_id});
  if (!rows) return rows.error();
  std::vector<JudgedRule> rules;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    rules.push_back({rows->Text(i, 0), rows->Text(i, 1), rows->Text(i, 2), ReadJson(*rows, i, 3),
                     rows->Real(i, 4)});
  }
  return rules;
}

Status SaveJobHours(Connection& connection, const JobHours& hours) {
  Json lost = Json::object();
  for (const auto& [cause, seconds] : hours.lost_seconds) lost[cause] = seconds;
  return Done(connection.QueryByKey(
      kSave,
      {hours.job_id, hours.user, hours.account, hours.gpu, hours.nodes, hours.gpus, hours.from_us,
       hours.to_us, hours.ended, hours.judged_seconds, hours.busy_seconds, Dump(lost),
       hours.verdict, hours.issues, hours.price, hours.sentence, hours.settled, hours.written_us}));
}

Status UnsettleJobHours(Connection& connection, std::int64_t job_id) {
  return Done(connection.QueryByKey(kUnsettle, {job_id}));
}

Result<std::vector<JobHours>> ReadJobHours(Connection& connection, std::int64_t since_us,
                                           std::int64_t below_job_id, int most) {
  const Result<Rows> rows = connection.Query(kRead, {since_us, below_job_id, most});
  if (!rows) return rows.error();
  std::vector<JobHours> hours;
  for (std::size_t i = 0; i < rows->size(); ++i) hours.push_back(ReadHours(*rows, i));
  if (const Status added = AddNodes(connection, hours); !added) return added.error();
  return hours;
}

Result<std::int64_t> CountJobHours(Connection& connection) {
  const Result<Rows> rows = connection.Query(kCount);
  if (!rows) return rows.error();
  return rows->Int(0, 0);
}

Result<std::vector<std::pair<std::int64_t, std::string>>> ReadJobSentences(
    Connection& connection, std::span<const std::int64_t> job_ids) {
  const Result<Rows> rows = connection.Query(kSentences, {Parameter::Array(job_ids)});
  if (!rows) return rows.error();
  std::vector<std::pair<std::int64_t, std::string>> sentences;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    sentences.emplace_back(rows->Int(i, 0), rows->Text(i, 1));
  }
  return sentences;
}

}  // namespace stepscope

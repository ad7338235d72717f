#include "server/store/rules/create_job.h"

#include "server/store/postgres/cursor.h"
#include "server/store/rules/rule_changes.h"

namespace stepscope {
namespace {

constexpr char kInsertJob[] = R"(
insert into jobs (name, job_group, configuration, created_us, created_by)
values ($1, $2, $3, $4, $5)
on conflict (name) do nothing
returning job_id)";
constexpr char kInsertTransition[] = R"(
insert into status_transitions (job_id, version, status, secondary_status, at_us)
values ($1, 1, 'InProgress', 'Starting', $2))";

}  // namespace

Result<CreatedJob> CreateJob(Connection& connection, const NewJob& job, std::int64_t now_us) {
  const Json configuration = job.configuration.is_object() ? job.configuration : Json::object();
  const Result<Rows> inserted = connection.Query(
      kInsertJob, {job.name, job.group, Dump(configuration), now_us, job.created_by});
  if (!inserted) return inserted.error();
  if (!inserted->empty()) {
    const std::int64_t job_id = inserted->Int(0, 0);
    if (Status made = AddRules(connection, job_id, job.rules, now_us); !made) return made.error();
    const Status noted = Done(connection.Query(kInsertTransition, {job_id, now_us}));
    if (!noted) return noted.error();
  }
  Result<JobRow> existing = FindJob(connection, job.name);
  if (!existing) return existing.error();
  return CreatedJob{std::move(*existing), !inserted->empty()};
}

}  // namespace stepscope

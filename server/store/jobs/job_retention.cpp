#include "server/store/jobs/job_retention.h"

#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr std::int64_t kDayUs = 86'400'000'000;

// A single statement, so that changes of the rest of the configuration are kept.
constexpr char kKeep[] = R"(
update jobs
set configuration = (configuration - 'keep_samples_days')
    || jsonb_strip_nulls(jsonb_build_object('keep_samples_days', $2::bigint))
where job_id = $1)";
constexpr char kStillOld[] = R"(
select job_id
from (select job_id, coalesce((configuration ->> 'keep_samples_days')::bigint * $4, $3) as keep_us
    from jobs
    where job_id = $1) as kept
where keep_us > 0 and $2 <= $5 - keep_us)";
constexpr char kOld[] = R"(
select job_id, $1 - keep_us
from (select job_id, created_us, ended_us, samples_from_us,
        coalesce((configuration ->> 'keep_samples_days')::bigint * $3, $2) as keep_us
    from jobs) as kept
where keep_us > 0 and created_us < $1 - keep_us
    and coalesce(samples_from_us, 0) < least($1 - keep_us - $3, coalesce(ended_us, $1 - keep_us))
order by created_us
limit 1000)";

}  // namespace

Status KeepSamples(Connection& connection, std::int64_t job_id, std::optional<std::int64_t> days) {
  return Done(connection.Query(kKeep, {job_id, days ? Parameter(*days) : Parameter(nullptr)}));
}

Result<std::vector<OldSamples>> ListOldSamples(Connection& connection, std::int64_t now_us,
                                               std::int64_t service_keeps_us) {
  const Result<Rows> rows = connection.Query(kOld, {now_us, service_keeps_us, kDayUs});
  if (!rows) return rows.error();
  std::vector<OldSamples> jobs;
  for (std::size_t i = 0; i < rows->size(); ++i) jobs.push_back({rows->Int(i, 0), rows->Int(i, 1)});
  return jobs;
}

Result<bool> AreStillOld(Connection& connection, const OldSamples& old, std::int64_t now_us,
                         std::int64_t service_keeps_us) {
  const Result<Rows> rows =
      connection.Query(kStillOld, {old.job_id, old.before_us, service_keeps_us, kDayUs, now_us});
  if (!rows) return rows.error();
  return !rows->empty();
}

}  // namespace stepscope

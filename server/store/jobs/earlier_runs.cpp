#include "server/store/jobs/earlier_runs.h"

#include <algorithm>

#include "server/store/jobs/scope_patterns.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

// A job may have several rules of the kind; their paces are the same. Before is by the service's
// clock.
constexpr char kPaces[] = R"(
select distinct on (coalesce(closed_us, ended_us), job_id) jobs.name,
    (s.verdict -> 'evidence' ->> 'pace_seconds')::float8, s.verdict -> 'evidence' ->> 'setup'
from rule_configs c
join rule_states s using (job_id, rule_config_id)
join jobs using (job_id)
where job_group = $1 and coalesce(closed_us, ended_us) <= $2 and job_group <> '' and created_by = $5 and c.rule = $3
    and (s.verdict -> 'evidence' ->> 'pace_seconds')::float8 > 0
order by coalesce(closed_us, ended_us) desc, job_id
limit $4)";
constexpr char kScopes[] = R"(
select to_jsonb(scopes)
from tokens
where scopes <> '{}' and revoked_us is null and expires_us > $1
order by token_id
limit 10000)";
constexpr int kTriedForOne = 5;  // runs are looked at for each that is wanted

using Scopes = std::vector<std::string>;

// The scopes that the job is within: whoever has them reads what is said of it.
Result<std::vector<Scopes>> ListScopesOf(Connection& connection, const JobRow& job) {
  const Result<Rows> rows = connection.Query(kScopes, {job.created_us});
  if (!rows) return rows.error();
  std::vector<Scopes> all;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    Scopes scopes = ReadJson(*rows, i, 0).get<Scopes>();
    if (IsWithin(scopes, job.name)) all.push_back(std::move(scopes));
  }
  return all;
}

}  // namespace

Result<std::vector<RunPace>> ListPaces(Connection& connection, const JobRow& job,
                                       std::string_view rule, int most) {
  if (job.group.empty()) return std::vector<RunPace>();
  const Result<Rows> rows = connection.Query(
      kPaces, {job.group, job.created_us, rule, most * kTriedForOne, job.created_by});
  if (!rows) return rows.error();
  std::vector<RunPace> paces;
  if (rows->empty()) return paces;
  const auto readers = ListScopesOf(connection, job);
  if (!readers) return readers.error();
  for (std::size_t i = 0; i < rows->size() && paces.size() < static_cast<std::size_t>(most); ++i) {
    const std::string name = rows->Text(i, 0);
    const bool is_seen_by_all =
        std::ranges::all_of(*readers, [&](const Scopes& scopes) { return IsWithin(scopes, name); });
    if (is_seen_by_all) paces.push_back({rows->Real(i, 1), rows->Text(i, 2)});
  }
  return paces;
}

}  // namespace stepscope

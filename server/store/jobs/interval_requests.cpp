#include "server/store/jobs/interval_requests.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

// A single statement, so that two people who change it at once are both recorded: $6 is the new
// part of the configuration, to which the list of changes is added, and $3 is one more for the
// list.
constexpr char kChangeInterval[] = R"(
update jobs
set configuration = configuration || jsonb_set($6, '{intervals}',
    coalesce(configuration -> 'intervals', jsonb_set('[{"from_us": 0}]', '{0, interval_ms}',
        coalesce(configuration -> 'interval_ms', $5::bigint::text::jsonb)))
    || $3)
where job_id = $1 and status = 'InProgress'
    and coalesce((configuration ->> 'interval_ms')::bigint, $5) <> $2
    and jsonb_array_length(coalesce(configuration -> 'intervals', '[]')) <= $4)";
constexpr char kCurrent[] = R"(
select status = 'InProgress', coalesce((configuration ->> 'interval_ms')::bigint, $3) = $2
from jobs
where job_id = $1)";
constexpr char kKeepFirst[] = R"(
update jobs
set configuration = configuration || $2
where job_id = $1 and configuration -> 'interval_ms' is null)";
constexpr char kAnsweredInterval[] = R"(
update streams
set interval_answered = greatest(interval_answered, $3)
where job_id = $1 and session = $2)";

// The longest time between two pushes.
constexpr std::int64_t kHeardWithinUs = 60'000'000;

std::int64_t Number(const Json& object, const char* name, std::int64_t fallback) {
  const auto found = object.find(name);
  const bool known = found != object.end() && found->is_number_integer();
  return known ? found->get<std::int64_t>() : fallback;
}

std::int64_t MsOf(const Json& object) {
  return std::clamp<std::int64_t>(Number(object, "interval_ms", kDefaultIntervalMs), 1, 3'600'000);
}

const Json* Changes(const Json& configuration) {
  const auto found = configuration.find("intervals");
  return found != configuration.end() && found->is_array() && !found->empty() ? &*found : nullptr;
}

}  // namespace

Status KeepFirstInterval(Connection& connection, std::int64_t job_id, std::int64_t interval_ms) {
  const Json interval = {{"interval_ms", interval_ms}};
  return Done(connection.Query(kKeepFirst, {job_id, Dump(interval)}));
}

std::int64_t IntervalMs(const Json& configuration) {
  return configuration.is_object() ? MsOf(configuration) : kDefaultIntervalMs;
}

std::int64_t LongestIntervalMs(const Json& configuration, std::int64_t from_us,
                               std::int64_t to_us) {
  const Json* changes = configuration.is_object() ? Changes(configuration) : nullptr;
  if (!changes) return IntervalMs(configuration);
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < changes->size(); ++i) {
    const Json& change = (*changes)[i];
    const bool last = i + 1 == changes->size();
    const std::int64_t until_us =
        last ? INT64_MAX : Number((*changes)[i + 1], "from_us", 0) + kHeardWithinUs;
    if (Number(change, "from_us", 0) > to_us || until_us < from_us) continue;
    longest = std::max(longest, MsOf(change));
  }
  return longest > 0 ? longest : IntervalMs(configuration);
}

std::int64_t IntervalChanges(const Json& configuration) {
  const Json* changes = configuration.is_object() ? Changes(configuration) : nullptr;
  return changes ? static_cast<std::int64_t>(changes->size()) - 1 : 0;
}

Status ChangeInterval(Connection& connection, std::int64_t job_id, std::int64_t interval_ms,
                      std::int64_t now_us) {
  const Json change = {{"from_us", now_us}, {"interval_ms", interval_ms}};
  const Json current_part = {{"interval_ms", interval_ms}};
  const Status changed = Done(
      connection.Query(kChangeInterval, {job_id, interval_ms, Dump(change), kMostIntervalChanges,
                                         kDefaultIntervalMs, Dump(current_part)}));
  if (!changed) return changed;
  const Result<Rows> current =
      connection.Query(kCurrent, {job_id, interval_ms, kDefaultIntervalMs});
  if (!current) return current.error();
  if (current->empty()) return NotFound("the job is gone");
  if (!current->Bool(0, 0)) return Conflict("the job has ended: its interval cannot be changed");
  if (!current->Bool(0, 1)) {
    return Conflict(Format("the interval was changed {} times already", kMostIntervalChanges));
  }
  return {};
}

Status IntervalAnswered(Connection& connection, std::int64_t job_id, std::string_view session,
                        std::int64_t number) {
  return Done(
      connection.QueryByKey(kAnsweredInterval, {job_id, Parameter::Bytes(session), number}));
}

}  // namespace stepscope

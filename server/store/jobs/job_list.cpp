#include "server/store/jobs/job_list.h"

// The list of jobs: filtered before it is cut into pages, in a stable order.

#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "server/store/jobs/job_rows.h"
#include "server/store/jobs/job_sizes.h"
#include "server/store/jobs/scope_patterns.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

// Rules are filtered in a statement apart from the jobs: Citus cannot look into a distributed table
// for each row of a reference table.
constexpr char kFilter[] = R"(
from jobs
where ($1 = '' or position(lower($1) in lower(name)) > 0)
    and ($2 = '' or job_group = $2)
    and (cardinality($3::text[]) = 0 or status = any($3))
    and ($4::bigint is null or created_us > $4)
    and ($5::bigint is null or created_us < $5)
    and (($6 = '' and cardinality($7::text[]) = 0) or job_id in (
        select job_id
        from rule_configs c
        join rule_states s using (job_id, rule_config_id)
        where ($6 = '' or c.rule = $6 or c.name = $6)
            and (cardinality($7::text[]) = 0 or s.status = any($7))))
    and ($8 or name = any($9) or name like any($10))
    and (cardinality($11::text[]) = 0
        or ('unknown' = any($11) and job_id not in (select job_id from rule_configs))
        or job_id in (
            select c.job_id
            from rule_configs c
            join rule_states s using (job_id, rule_config_id)
            left join rule_configs r on r.job_id = c.job_id and r.rule = 'ProfilerReport'
            group by c.job_id
            having case
                when bool_or(s.status = 'IssuesFound') then 'issues'
                when bool_or((c.rule = 'ProfilerReport' or r.job_id is null)
                    and s.verdict ->> 'kind' in ('clear', 'finding')) then 'none'
                else 'unknown' end = any($11))))";
constexpr char kTrouble[] = R"(
select job_id, name
from rule_configs
join rule_states using (job_id, rule_config_id)
where job_id = any($1::bigint[]) and status in ('IssuesFound', 'Error')
order by job_id, name
limit 100000)";
// Whether a job has issues, and whether it is judged: ProfilerReport, which sums up the others, has
// a verdict, or some rule of a job that was not given it. Verdicts are large: only these are read.
constexpr char kVerdicts[] = R"(
select c.job_id, bool_or(s.status = 'IssuesFound'), bool_or(
    (c.rule = 'ProfilerReport' or r.job_id is null)
    and s.verdict ->> 'kind' in ('clear', 'finding'))
from rule_configs c
join rule_states s using (job_id, rule_config_id)
left join rule_configs r on r.job_id = c.job_id and r.rule = 'ProfilerReport'
where c.job_id = any($1::bigint[])
group by c.job_id
order by c.job_id
limit 1000)";
// An order that the list can have.
struct Sort {
  std::string_view word, column, type;
};
// $12 of each page is the time at which the first one was asked for, so that the order stays. A job
// that has not begun has lasted no time.
constexpr Sort kSorts[] = {
    {"created", "created_us", "bigint"},
    {"name", "name", "text"},
    {"status", "status", "text"},
    {"duration",
     "(case when started_us is null then 0 else "
     "greatest(coalesce(ended_us, $12::bigint) - started_us, 0) end)",
     "bigint"},
    {"issues",
     "coalesce((select h.issues from job_hours h where h.job_id = jobs.job_id), 0)::bigint",
     "bigint"}};
constexpr char kAnyRule[] = "select 1 from rule_configs where rule = $1 or name = $1 limit 1";

// The place of what the list is sorted by, behind kJobColumns.
constexpr int kKeyColumn = kJobColumnCount;

struct Order {
  Sort sort;
  bool descending = false;

  std::string By() const {
    return Format("order by {0} {1}, job_id {1}", sort.column, descending ? "desc" : "asc");
  }
  // The condition for rows behind the cursor, which is bound as $13 and $14.
  std::string Behind() const {
    return Format("and ({}, job_id) {} ($13::{}, $14::bigint)", sort.column, descending ? "<" : ">",
                  sort.type);
  }
  // The position behind a row, whose last column is what the list is sorted by.
  Json Position(const std::string& word, const Rows& rows, std::size_t row,
                std::int64_t now_us) const {
    const int key = kKeyColumn;
    const Json by = sort.type == "text" ? Json(rows.Text(row, key)) : Json(rows.Int(row, key));
    return Json::array({word, by, rows.Int(row, 0), now_us});
  }
  Json Likeness() const {
    return Json::array({"", sort.type == "text" ? Json("") : Json(0), 0, 0});
  }
};

Result<Order> ParseOrder(std::string_view word) {
  const bool descending = word.starts_with('-');
  if (descending) word.remove_prefix(1);
  const auto* found = std::ranges::find(kSorts, word, &Sort::word);
  if (found == std::end(kSorts)) {
    return Invalid(Format("sort: '{}' is not one of created, name, status, duration, issues",
                          Printable(word)));
  }
  return Order{*found, descending};
}

template <typename Status>
std::vector<std::string> Texts(const std::vector<Status>& statuses) {
  std::vector<std::string> texts;
  for (const Status status : statuses) texts.emplace_back(ToText(status));
  return texts;
}

std::vector<Parameter> FilterParameters(const JobFilter& filter) {
  const ScopePatterns patterns = PatternsOf(filter.scopes);
  return {filter.name_contains,
          filter.group,
          Parameter::Array(Texts(filter.statuses)),
          filter.created_after_us,
          filter.created_before_us,
          filter.rule,
          Parameter::Array(Texts(filter.rule_statuses)),
          filter.scopes.empty(),
          Parameter::Array(patterns.names),
          Parameter::Array(patterns.beginnings),
          Parameter::Array(Texts(filter.verdicts))};
}

// Reads one row more than a page, to know whether another page follows. `now_us` becomes that of
// the first page.
Result<Rows> ReadPage(Connection& connection, const JobFilter& filter, const Order& order,
                      std::int64_t& now_us) {
  std::vector<Parameter> parameters = FilterParameters(filter);
  std::string behind;
  if (filter.after.empty()) {
    parameters.emplace_back(now_us);
  } else {
    const Result<Json> position = DecodeCursor(filter.after, order.Likeness());
    if (!position) return position.error();
    if ((*position)[0] != filter.sort) return Invalid("cursor: belongs to another sort");
    const Json& key = (*position)[1];
    now_us = (*position)[3].get<std::int64_t>();
    parameters.emplace_back(now_us);
    parameters.push_back(key.is_string() ? Parameter(key.get<std::string>())
                                         : Parameter(key.get<std::int64_t>()));
    parameters.emplace_back((*position)[2].get<std::int64_t>());
    behind = order.Behind();
  }
  return connection.Query(Format("select {}, {} {} {} {} limit {}", kJobColumns, order.sort.column,
                                 kFilter, behind, order.By(), filter.limit + 1),
                          parameters);
}

Status AddVerdicts(Connection& connection, const std::vector<std::int64_t>& ids,
                   std::map<std::int64_t, JobListItem*>& by_id) {
  const Result<Rows> verdicts = connection.Query(kVerdicts, {Parameter::Array(ids)});
  if (!verdicts) return verdicts.error();
  for (std::size_t i = 0; i < verdicts->size(); ++i) {
    by_id[verdicts->Int(i, 0)]->verdict = verdicts->Bool(i, 1)   ? JobVerdict::kIssues
                                          : verdicts->Bool(i, 2) ? JobVerdict::kNone
                                                                 : JobVerdict::kUnknown;
  }
  return {};
}

Status AddSizes(Connection& connection, std::vector<JobListItem>& items) {
  std::map<std::int64_t, JobListItem*> by_id;
  std::vector<std::int64_t> ids;
  for (JobListItem& item : items) {
    by_id[item.job.job_id] = &item;
    ids.push_back(item.job.job_id);
  }
  const Result<Rows> trouble = connection.Query(kTrouble, {Parameter::Array(ids)});
  if (!trouble) return trouble.error();
  for (std::size_t i = 0; i < trouble->size(); ++i) {
    by_id[trouble->Int(i, 0)]->rules_in_trouble.push_back(trouble->Text(i, 1));
  }
  const auto sizes = JobSizesOf(connection, ids);
  if (!sizes) return sizes.error();
  for (const auto& [job_id, size] : *sizes) {
    by_id[job_id]->nodes = static_cast<int>(size.nodes);
    by_id[job_id]->gpus = static_cast<int>(size.gpus);
  }
  return AddVerdicts(connection, ids, by_id);
}

constexpr std::string_view kVerdictWords[] = {"issues", "none", "unknown"};

}  // namespace

std::string_view ToText(JobVerdict verdict) {
  return kVerdictWords[static_cast<std::size_t>(verdict)];
}

std::optional<JobVerdict> ParseJobVerdict(std::string_view text) {
  const auto* found = std::ranges::find(kVerdictWords, text);
  if (found == std::end(kVerdictWords)) return std::nullopt;
  return static_cast<JobVerdict>(found - kVerdictWords);
}

Result<bool> AnyJobHasRule(Connection& connection, const std::string& rule) {
  const Result<Rows> rows = connection.Query(kAnyRule, {rule});
  if (!rows) return rows.error();
  return !rows->empty();
}

Result<JobPage> ListJobs(Connection& connection, const JobFilter& filter) {
  const Result<Order> order = ParseOrder(filter.sort);
  if (!order) return order.error();
  std::int64_t now_us = filter.now_us;
  const Result<Rows> rows = ReadPage(connection, filter, *order, now_us);
  if (!rows) return rows.error();
  const Result<Rows> total =
      connection.Query(std::string("select count(*) ") + kFilter, FilterParameters(filter));
  if (!total) return total.error();
  JobPage page;
  page.total = total->Int(0, 0);
  const std::size_t limit = static_cast<std::size_t>(filter.limit);
  for (std::size_t i = 0; i < std::min(rows->size(), limit); ++i) {
    page.items.push_back({.job = ReadJob(*rows, i), .rules_in_trouble = {}});
  }
  if (rows->size() > limit) {
    page.next = EncodeCursor(order->Position(filter.sort, *rows, limit - 1, now_us));
  }
  if (Status added = AddSizes(connection, page.items); !added) return added.error();
  return page;
}

}  // namespace stepscope

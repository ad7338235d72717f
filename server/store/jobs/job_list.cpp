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
constexpr std::string_view kWithRule = R"(
job_id in (
    select job_id
    from rule_configs c
    join rule_states s using (job_id, rule_config_id)
    where ({0} = '' or c.rule = {0} or c.name = {0})
        and (cardinality({1}::text[]) = 0 or s.status = any({1}))))";
constexpr std::string_view kOfVerdict = R"(
(('unknown' = any({0}) and job_id not in (select job_id from rule_configs))
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
            else 'unknown' end = any({0}))))";
// The rules in trouble of each job, whether it has issues, and whether it is judged:
// ProfilerReport, which sums up the others, has a verdict, or some rule of a job that was not given
// it. Verdicts are large: only these are read.
constexpr char kJudged[] = R"(
select c.job_id, bool_or(s.status = 'IssuesFound'), bool_or(
    (c.rule = 'ProfilerReport' or r.job_id is null)
    and s.verdict ->> 'kind' in ('clear', 'finding')),
    array_to_json(array_agg(c.name order by c.name)
        filter (where s.status in ('IssuesFound', 'Error')))::text
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
// $1 of each page is the time at which the first one was asked for, so that the order stays. A job
// that has not begun has lasted no time.
constexpr Sort kSorts[] = {
    {"created", "created_us", "bigint"},
    {"name", "name", "text"},
    {"status", "status", "text"},
    {"duration",
     "(case when started_us is null then 0 else "
     "greatest(coalesce(ended_us, $1::bigint) - started_us, 0) end)",
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
  // The condition for rows behind a cursor, whose values have these places.
  std::string Behind(std::string_view key, std::string_view job_id) const {
    return Format("({}, job_id) {} ({}::{}, {}::bigint)", sort.column, descending ? "<" : ">", key,
                  sort.type, job_id);
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

// What is asked of a list, and no more: a condition on rules asks every machine of a cluster, even
// one that holds for all jobs.
class Where {
 public:
  // The place of a value in the statement.
  std::string Bind(Parameter value) {
    parameters_.push_back(std::move(value));
    return Format("${}", parameters_.size());
  }
  void And(const std::string& condition) {
    sql_ += sql_.empty() ? "where " : " and ";
    sql_ += condition;
  }
  const std::string& sql() const { return sql_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  std::string sql_;
  std::vector<Parameter> parameters_;
};

void AddConditions(const JobFilter& filter, Where& where) {
  if (!filter.name_contains.empty()) {
    where.And(
        Format("position(lower({}::text) in lower(name)) > 0", where.Bind(filter.name_contains)));
  }
  if (!filter.group.empty()) where.And(Format("job_group = {}", where.Bind(filter.group)));
  if (!filter.statuses.empty()) {
    where.And(Format("status = any({})", where.Bind(Parameter::Array(Texts(filter.statuses)))));
  }
  if (filter.created_after_us) {
    where.And(Format("created_us > {}", where.Bind(*filter.created_after_us)));
  }
  if (filter.created_before_us) {
    where.And(Format("created_us < {}", where.Bind(*filter.created_before_us)));
  }
  if (!filter.rule.empty() || !filter.rule_statuses.empty()) {
    const std::string rule = where.Bind(filter.rule);
    where.And(Format(kWithRule, rule, where.Bind(Parameter::Array(Texts(filter.rule_statuses)))));
  }
  if (!filter.scopes.empty()) {
    const ScopePatterns patterns = PatternsOf(filter.scopes);
    const std::string names = where.Bind(Parameter::Array(patterns.names));
    where.And(Format("(name = any({}) or name like any({}))", names,
                     where.Bind(Parameter::Array(patterns.beginnings))));
  }
  if (!filter.verdicts.empty()) {
    where.And(Format(kOfVerdict, where.Bind(Parameter::Array(Texts(filter.verdicts)))));
  }
}

// Reads one row more than a page, to know whether another page follows. `now_us` becomes that of
// the first page.
Result<Rows> ReadPage(Connection& connection, const JobFilter& filter, const Order& order,
                      std::int64_t& now_us) {
  Result<Json> position = Json();
  if (!filter.after.empty()) {
    position = DecodeCursor(filter.after, order.Likeness());
    if (!position) return position.error();
    if ((*position)[0] != filter.sort) return Invalid("cursor: belongs to another sort");
    now_us = (*position)[3].get<std::int64_t>();
  }
  Where where;
  where.Bind(now_us);
  AddConditions(filter, where);
  if (!position->is_null()) {
    const Json& key = (*position)[1];
    const std::string place = where.Bind(key.is_string() ? Parameter(key.get<std::string>())
                                                         : Parameter(key.get<std::int64_t>()));
    where.And(order.Behind(place, where.Bind((*position)[2].get<std::int64_t>())));
  }
  return connection.Query(Format("select {}, {} from jobs {} {} limit {}", kJobColumns,
                                 order.sort.column, where.sql(), order.By(), filter.limit + 1),
                          where.parameters());
}

Result<std::int64_t> CountMatching(Connection& connection, const JobFilter& filter) {
  Where where;
  AddConditions(filter, where);
  const Result<Rows> total =
      connection.Query(Format("select count(*) from jobs {}", where.sql()), where.parameters());
  return total ? Result<std::int64_t>(total->Int(0, 0)) : total.error();
}

Status AddRules(Connection& connection, const std::vector<std::int64_t>& ids,
                std::map<std::int64_t, JobListItem*>& by_id) {
  const Result<Rows> judged = connection.Query(kJudged, {Parameter::Array(ids)});
  if (!judged) return judged.error();
  for (std::size_t i = 0; i < judged->size(); ++i) {
    JobListItem& item = *by_id[judged->Int(i, 0)];
    item.verdict = judged->Bool(i, 1)   ? JobVerdict::kIssues
                   : judged->Bool(i, 2) ? JobVerdict::kNone
                                        : JobVerdict::kUnknown;
    for (const Json& name : ReadJson(*judged, i, 3)) {
      item.rules_in_trouble.push_back(name.get<std::string>());
    }
  }
  return {};
}

Status AddRulesAndSizes(Connection& connection, std::vector<JobListItem>& items) {
  std::map<std::int64_t, JobListItem*> by_id;
  std::vector<std::int64_t> ids;
  for (JobListItem& item : items) {
    by_id[item.job.job_id] = &item;
    ids.push_back(item.job.job_id);
  }
  if (Status added = AddRules(connection, ids, by_id); !added) return added;
  const auto sizes = JobSizesOf(connection, ids);
  if (!sizes) return sizes.error();
  for (const auto& [job_id, size] : *sizes) {
    by_id[job_id]->nodes = static_cast<int>(size.nodes);
    by_id[job_id]->gpus = static_cast<int>(size.gpus);
  }
  return {};
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
  const Result<std::int64_t> total = CountMatching(connection, filter);
  if (!total) return total.error();
  JobPage page;
  page.total = *total;
  const std::size_t limit = static_cast<std::size_t>(filter.limit);
  for (std::size_t i = 0; i < std::min(rows->size(), limit); ++i) {
    page.items.push_back({.job = ReadJob(*rows, i), .rules_in_trouble = {}});
  }
  if (rows->size() > limit) {
    page.next = EncodeCursor(order->Position(filter.sort, *rows, limit - 1, now_us));
  }
  if (Status added = AddRulesAndSizes(connection, page.items); !added) return added.error();
  return page;
}

}  // namespace stepscope

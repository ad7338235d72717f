// The history of one rule of a job.

#include "server/store/rules/rule_transitions.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kFind[] = R"(
select rule_config_id
from rule_configs
where job_id = $1 and name = $2)";
constexpr char kCount[] = R"(
select count(*)
from status_transitions
where job_id = $1 and rule_config_id = $2)";
constexpr char kListTransitions[] = R"(
select version, status, detail, at_us
from status_transitions
where job_id = $1 and rule_config_id = $2 and version > $3
order by version
limit $4)";

}  // namespace

Result<std::int64_t> FindRuleConfig(Connection& connection, std::int64_t job_id,
                                    const std::string& name) {
  const Result<Rows> rows = connection.QueryByKey(kFind, {job_id, name});
  if (!rows) return rows.error();
  if (rows->empty()) return NotFound(Format("the job has no rule '{}'", Printable(name, 64)));
  return rows->Int(0, 0);
}

// A cursor holds the version.
Result<TransitionPage> ListRuleTransitions(Connection& connection, std::int64_t job_id,
                                           std::int64_t rule_config_id, const std::string& after,
                                           int limit) {
  Json position = Json::array({0});
  if (!after.empty()) {
    Result<Json> given = DecodeCursor(after, position);
    if (!given) return given.error();
    position = std::move(*given);
  }
  const Result<Rows> total = connection.QueryByKey(kCount, {job_id, rule_config_id});
  if (!total) return total.error();
  const Result<Rows> rows = connection.QueryByKey(
      kListTransitions, {job_id, rule_config_id, position[0].get<std::int64_t>(), limit + 1});
  if (!rows) return rows.error();
  TransitionPage page;
  page.total = total->Int(0, 0);
  const std::size_t most = static_cast<std::size_t>(limit);
  for (std::size_t i = 0; i < std::min(rows->size(), most); ++i) {
    page.items.push_back(
        {rule_config_id, rows->Int(i, 0), rows->Text(i, 1), "", rows->Text(i, 2), rows->Int(i, 3)});
  }
  if (rows->size() > most) page.next = EncodeCursor(Json::array({page.items.back().version}));
  return page;
}

}  // namespace stepscope

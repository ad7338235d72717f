#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/model/status.h"
#include "server/store/postgres/database.h"

namespace stepscope {

struct RuleConfigRow {
  std::int64_t job_id = 0, rule_config_id = 0;
  std::string name, rule;
  Json parameters;
};

struct RuleStateRow {
  RuleConfigRow config;
  RuleStatus status = RuleStatus::kInProgress;
  std::int64_t version = 0, revision = 0, changed_us = 0;
  std::optional<std::int64_t> evaluated_us;
  std::string saved;      // the evaluation's saved state; empty before the first one
  bool by_older = false;  // an older version of the program has saved another state since
  Json verdict;
};
// The rules of a job by name: without saved states; and without verdicts, too.
Result<std::vector<RuleStateRow>> ListRuleStates(Connection&, std::int64_t job_id);
Result<std::vector<RuleStateRow>> ListRuleStatuses(Connection&, std::int64_t job_id);
// The two statements of ListRuleStates, for a caller that asks for more of the job in one round
// trip; ReadRuleRows joins their rows.
Statement RuleConfigs(std::int64_t job_id);
Statement RuleStates(std::int64_t job_id);
std::vector<RuleStateRow> ReadRuleRows(const Rows& configs, const Rows& states,
                                       std::int64_t job_id);
Result<RuleStateRow> LoadRuleState(Connection&, std::int64_t job_id, std::int64_t rule_config_id);
// The rules of these numbers that exist, without verdicts.
Result<std::vector<RuleStateRow>> LoadRuleStates(Connection&, std::int64_t job_id,
                                                 std::span<const std::int64_t> rule_config_ids);

// Whether a rule fires by its newest verdict, without the rest of that.
struct RuleFiring {
  std::int64_t rule_config_id = 0;
  bool active = false;
  double share = 0;
};
Result<std::vector<RuleFiring>> ListFiring(Connection&, std::int64_t job_id,
                                           std::span<const std::int64_t> rule_config_ids);

struct FindingRow {
  std::int64_t rule_config_id = 0, finding = 0, from_us = 0, to_us = 0;
  std::string rule_name;  // the configuration's
  std::string node, device, sentence;
  int rank = -1;
  Json evidence;
};
struct FindingPage {
  std::vector<FindingRow> items;
  std::string next;
  std::int64_t total = 0;
};
Result<FindingPage> ListFindings(Connection&, std::int64_t job_id, const std::string& rule_name,
                                 const std::string& after, int limit);

// The longest findings of each rule that has some, the longest first, and how many there are.
struct RuleFindings {
  std::vector<FindingRow> longest;
  std::int64_t total = 0;
};
Result<std::map<std::int64_t, RuleFindings>> ListLongestFindings(Connection&, std::int64_t job_id,
                                                                 int most_each);

}  // namespace stepscope

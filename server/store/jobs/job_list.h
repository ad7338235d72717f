#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/store/jobs/jobs.h"

namespace stepscope {

struct JobFilter {
  std::string name_contains, group, rule;
  std::vector<JobStatus> statuses;        // empty = all
  std::vector<RuleStatus> rule_statuses;  // with `rule`, or of any rule; empty = all
  std::optional<std::int64_t> created_after_us, created_before_us;
  std::vector<std::string> scopes;  // names, or beginnings and '*'; empty = all
  std::string sort = "-created";    // created, name, status; '-' = descending
  std::string after;                // cursor: opaque, made by ListJobs; Invalid for another sort
  int limit = 50;
};
struct JobListItem {
  JobRow job;
  std::vector<std::string> rules_in_trouble;  // names with IssuesFound or Error
  int nodes = 0, gpus = 0;
};
struct JobPage {
  std::vector<JobListItem> items;
  std::string next;        // "" at the end
  std::int64_t total = 0;  // on all pages of the filter
};
Result<JobPage> ListJobs(Connection&, const JobFilter&);

}  // namespace stepscope

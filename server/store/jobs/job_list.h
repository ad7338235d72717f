#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/jobs/jobs.h"

namespace stepscope {

// Whether the rules of a job found something. A job whose rules had too little to judge by is
// unknown, whatever their status: NoIssuesFound is the status of a rule that never was judged, too.
enum class JobVerdict { kIssues, kNone, kUnknown };
std::string_view ToText(JobVerdict);
std::optional<JobVerdict> ParseJobVerdict(std::string_view);

struct JobFilter {
  std::string name_contains, group, rule;
  std::vector<JobStatus> statuses;        // empty = all
  std::vector<RuleStatus> rule_statuses;  // with `rule`, or of any rule; empty = all
  std::vector<JobVerdict> verdicts;       // empty = all
  std::optional<std::int64_t> created_after_us, created_before_us;
  std::vector<std::string> scopes;  // names, or beginnings and '*'; empty = all
  // created, name, status, duration, issues; '-' = descending. Issues are those of job_hours, which
  // may be two minutes old.
  std::string sort = "-created";
  std::int64_t now_us = 0;  // jobs that run have lasted until then
  std::string after;        // cursor: opaque, made by ListJobs; Invalid for another sort
  int limit = 50;
};
struct JobListItem {
  JobRow job;
  std::vector<std::string> rules_in_trouble;  // names with IssuesFound or Error
  int nodes = 0, gpus = 0;
  JobVerdict verdict = JobVerdict::kUnknown;
};
struct JobPage {
  std::vector<JobListItem> items;
  std::string next;        // "" at the end
  std::int64_t total = 0;  // on all pages of the filter
};
// Whether a job has a rule of this name, or under this name.
Result<bool> AnyJobHasRule(Connection&, const std::string& rule);
Result<JobPage> ListJobs(Connection&, const JobFilter&);

}  // namespace stepscope

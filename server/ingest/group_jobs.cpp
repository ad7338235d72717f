#include "server/ingest/group_jobs.h"

namespace stepscope {
namespace {

struct Wanted {
  const Lifecycle* start = nullptr;  // null: it is not made
  std::string sender;
};

const Lifecycle* StartOf(const GroupItem& item) {
  const CheckedFrame& first = item.push->frames[item.from];
  const auto* lifecycle = std::get_if<Lifecycle>(&first.content);
  const bool starts = lifecycle && lifecycle->event == LifecycleEvent::kStarted;
  return starts ? lifecycle : nullptr;
}

NewJob JobOf(const std::string& name, const Wanted& wanted, const IngestOptions& options) {
  NewJob job{name, wanted.start->group, Json::object(), options.default_rules, wanted.sender};
  if (wanted.start->interval_ms) job.configuration["interval_ms"] = *wanted.start->interval_ms;
  return job;
}

}  // namespace

Result<std::map<std::string, JobRow>> JobsOf(Connection& connection,
                                             const std::vector<GroupItem>& items,
                                             const IngestOptions& options, std::int64_t now_us) {
  std::map<std::string, Wanted> wanted;
  for (const GroupItem& item : items) {
    Wanted& first = wanted[item.push->job];
    if (!first.start) first = {StartOf(item), item.push->sender};
  }
  std::vector<std::string> names;
  for (const auto& [name, first] : wanted) names.push_back(name);
  Result<std::vector<JobRow>> found = FindJobs(connection, names);
  if (!found) return found.error();
  std::map<std::string, JobRow> jobs;
  for (JobRow& job : *found) jobs.emplace(job.name, std::move(job));
  for (const auto& [name, first] : wanted) {
    if (jobs.contains(name) || !first.start) continue;
    Result<CreatedJob> created = CreateJob(connection, JobOf(name, first, options), now_us);
    if (!created) return created.error();
    jobs.emplace(name, std::move(created->job));
  }
  return jobs;
}

}  // namespace stepscope

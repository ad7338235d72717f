#include "server/ingest/group_jobs.h"
#include "server/store/jobs/interval_requests.h"
#include "server/store/rules/create_job.h"

#include <set>

namespace stepscope {
namespace {

struct Wanted {
  const Lifecycle* start = nullptr;  // null: the job is not made
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

// A job that was made before any agent came may have no interval yet.
Status KeepInterval(Connection& connection, const Lifecycle& start, JobRow& job) {
  if (!start.interval_ms || job.configuration.contains("interval_ms")) return {};
  const Status kept = KeepFirstInterval(connection, job.job_id, *start.interval_ms);
  if (kept) job.configuration["interval_ms"] = *start.interval_ms;
  return kept;
}

}  // namespace

std::vector<std::string> NamesOf(const std::vector<GroupItem>& items) {
  std::set<std::string> names;
  for (const GroupItem& item : items) names.insert(item.push->job);
  return {names.begin(), names.end()};
}

Result<std::map<std::string, JobRow>> JobsOf(Connection& connection, const Rows& found,
                                             const std::vector<GroupItem>& items,
                                             const IngestOptions& options, std::int64_t now_us) {
  std::map<std::string, Wanted> wanted;
  for (const GroupItem& item : items) {
    Wanted& first = wanted[item.push->job];
    if (!first.start) first = {StartOf(item), item.push->sender};
  }
  std::map<std::string, JobRow> jobs;
  for (JobRow& job : ReadJobs(found)) jobs.emplace(job.name, std::move(job));
  for (const auto& [name, first] : wanted) {
    if (!first.start) continue;
    if (const auto job = jobs.find(name); job != jobs.end()) {
      if (Status kept = KeepInterval(connection, *first.start, job->second); !kept)
        return kept.error();
      continue;
    }
    Result<CreatedJob> created = CreateJob(connection, JobOf(name, first, options), now_us);
    if (!created) return created.error();
    jobs.emplace(name, std::move(created->job));
  }
  return jobs;
}

}  // namespace stepscope

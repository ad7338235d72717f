#include "server/report/fleet/idle_now.h"

#include <algorithm>
#include <map>

#include "core/base/json_members.h"
#include "core/base/text.h"
#include "server/report/fleet/fleet_filter.h"
#include "server/store/fleet/idle_verdicts.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostIdleListed = 20;  // jobs of an answer
constexpr std::size_t kMostDevices = 64;     // that a verdict lists of a job

bool IsJudged(const Json& verdict) {
  const std::string kind = verdict.is_object() ? TextOf(verdict, "kind") : "";
  return kind == "clear" || kind == "finding";
}

// The GPUs that the verdict lists and that were not used later.
std::vector<IdleDevice> DevicesOf(const Json& verdict, const FleetQuestion& question) {
  std::vector<IdleDevice> devices;
  const Json evidence = verdict.value("evidence", Json::object());
  if (TextOf(verdict, "kind") != "finding" || !evidence.is_object()) return devices;
  for (const Json& row : MemberArray(evidence, "gpus")) {
    if (!row.is_object() || row.value("used_later", Json()) != Json(false)) continue;
    const Json seconds = row.value("idle_seconds", Json());
    if (!seconds.is_number() || devices.size() == kMostDevices) continue;
    IdleDevice device{TextOf(row, "node"), TextOf(row, "device"), seconds.get<double>()};
    if (!question.node || *question.node == device.node) devices.push_back(std::move(device));
  }
  return devices;
}

OrderedJson ToJson(const IdleJob& job) {
  OrderedJson devices = OrderedJson::array();
  for (const IdleDevice& each : job.idle) {
    devices.push_back({{"node", each.node},
                       {"device", each.device},
                       {"idle_seconds", Rounded(each.idle_seconds, 0)}});
  }
  OrderedJson json = {{"name", job.name},
                      {"group", NullIfEmpty(job.group)},
                      {"user", NullIfEmpty(job.user)},
                      {"gpus", job.gpus},
                      {"idle_gpus", std::move(devices)}};
  PutTime(json, "judged", job.judged_us);
  return json;
}

}  // namespace

std::int64_t IdleNow::Gpus() const {
  std::int64_t gpus = 0;
  for (const IdleJob& job : jobs) gpus += std::ssize(job.idle);
  return gpus;
}

RunningJobs ListRunningJobs(const FleetJobs& jobs, const FleetQuestion& question,
                            std::size_t most) {
  const FleetFilter filter(jobs, question);
  std::vector<const FleetJob*> found;
  for (const FleetJob& job : jobs.jobs) {
    if (job.ended || job.gpus == 0 || job.from_us == 0) continue;
    if (filter.Has(job) && filter.PartOf(job) > 0) found.push_back(&job);
  }
  std::ranges::stable_sort(found, std::greater<>(), [](const FleetJob* job) { return job->gpus; });
  RunningJobs running;
  running.left_out =
      static_cast<std::int64_t>(found.size() > most ? found.size() - most : std::size_t{0});
  found.resize(std::min(found.size(), most));
  for (const FleetJob* job : found) {
    running.jobs.push_back(*job);
    running.groups.push_back(jobs.texts[job->group]);
    running.users.push_back(jobs.texts[job->user]);
  }
  return running;
}

Result<IdleNow> ReadIdleNow(Connection& connection, const RunningJobs& running,
                            const FleetQuestion& question) {
  std::map<std::int64_t, std::size_t> places;
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < running.jobs.size(); ++i) {
    places[running.jobs[i].job_id] = i;
    ids.push_back(running.jobs[i].job_id);
  }
  const auto verdicts = ReadIdleVerdicts(connection, ids);
  if (!verdicts.ok()) return verdicts.error();
  IdleNow now;
  now.running_jobs = std::ssize(running.jobs) + running.left_out;
  now.not_asked = running.left_out;
  std::int64_t last_id = 0;
  for (const IdleVerdict& each : *verdicts) {
    // The first verdict counts where a job has the rule more than once.
    if (each.job_id == last_id || !each.evaluated_us || !IsJudged(each.verdict)) continue;
    last_id = each.job_id;
    ++now.judged_jobs;
    std::vector<IdleDevice> idle = DevicesOf(each.verdict, question);
    if (idle.empty()) continue;
    const std::size_t place = places.at(each.job_id);
    const FleetJob& job = running.jobs[place];
    now.jobs.push_back({job.name, running.groups[place], running.users[place], job.gpus,
                        std::move(idle), *each.evaluated_us});
  }
  std::ranges::stable_sort(now.jobs, std::greater<>(),
                           [](const IdleJob& job) { return job.idle.size(); });
  return now;
}

OrderedJson ToJson(const IdleNow& idle) {
  OrderedJson jobs = OrderedJson::array();
  for (const IdleJob& job : idle.jobs) {
    if (jobs.size() == kMostIdleListed) break;
    jobs.push_back(ToJson(job));
  }
  return {{"running_jobs", idle.running_jobs}, {"judged_jobs", idle.judged_jobs},
          {"not_asked_jobs", idle.not_asked},  {"gpus", idle.Gpus()},
          {"jobs_total", idle.jobs.size()},    {"jobs", std::move(jobs)}};
}

}  // namespace stepscope

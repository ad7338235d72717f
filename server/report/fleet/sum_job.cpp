#include "server/report/fleet/sum_job.h"

#include <algorithm>

#include "core/base/json_members.h"
#include "core/base/text.h"
#include "rules/diagnosis/causes.h"
#include "server/store/jobs/jobs.h"

namespace stepscope {
namespace {

constexpr std::string_view kFacts[] = {"gpus", "user", "account"};
// Frames and last turns of rules may come so long after the end of a job.
constexpr std::int64_t kLateUs = 120'000'000;
constexpr std::int64_t kAgainAfterUs = 60'000'000;
constexpr int kJobsAtOnce = 200;
constexpr std::size_t kLongestText = 200;  // bytes of a user, an account, a model

void SetIfEmpty(std::string& text, const Json& facts, const char* fact) {
  if (text.empty()) text = Printable(TextOf(facts, fact), kLongestText);
}

std::string ModelOf(const Json& gpu) {
  return gpu.is_object() ? Printable(TextOf(gpu, "name"), kLongestText) : "";
}

void AddNodes(const std::vector<NodeRow>& nodes, const JobRow& job, JobHours& hours) {
  hours.nodes = static_cast<std::int64_t>(nodes.size());
  std::int64_t newest_us = job.started_us.value_or(0);
  for (const NodeRow& node : nodes) {
    const ListFact gpus = ListIn(node.facts, "gpus");
    hours.gpus += static_cast<std::int64_t>(gpus.count);
    if (hours.gpu.empty()) hours.gpu = ModelOf(gpus.first);
    SetIfEmpty(hours.user, node.facts, "user");
    SetIfEmpty(hours.account, node.facts, "account");
    newest_us = std::max(newest_us, node.last_seen_us);
  }
  if (!job.started_us) return;
  hours.from_us = job.started_us;
  hours.to_us = std::max(*job.started_us, job.ended_us.value_or(newest_us));
}

void AddBudget(const Json& verdict, JobHours& hours) {
  if (!verdict.is_object()) return;
  hours.sentence = TextOf(verdict, "sentence");
  const Json evidence = verdict.value("evidence", Json::object());
  if (!evidence.is_object() || TextOf(evidence, "unit") != "gpu_seconds") return;
  // Seconds of imported windows are of GPUs that the service did not see held.
  if (TextOf(evidence, "confidence") == "windows only") return;
  double judged = 0;
  for (const Json& row : MemberArray(evidence, "budget")) {
    const double seconds = row.value("seconds", 0.0);
    const std::string cause = TextOf(row, "cause");
    judged += seconds;
    if (cause == TextOf(Cause::kBusy).name) hours.busy_seconds = seconds;
    if (cause != TextOf(Cause::kBusy).name) hours.lost_seconds.emplace_back(cause, seconds);
  }
  hours.judged_seconds = judged;
}

void AddRules(const std::vector<JudgedRule>& rules, JobHours& hours) {
  const bool divides = std::ranges::any_of(
      rules, [](const JudgedRule& rule) { return rule.rule == "ProfilerReport"; });
  bool judged = false, named = false;
  for (const JudgedRule& rule : rules) {
    const bool report = rule.rule == "ProfilerReport";
    judged |= (report || !divides) && (rule.kind == "clear" || rule.kind == "finding");
    const bool found = rule.status == "IssuesFound";
    if (found && !report) ++hours.issues;
    named |= found && report;
    if (!report || hours.judged_seconds) continue;
    hours.price = rule.price;
    AddBudget(rule.verdict, hours);
  }
  // The report repeats what others found; alone it has named a cause that no other rule looks for.
  if (hours.issues == 0 && named) hours.issues = 1;
  hours.verdict = hours.issues > 0 ? "issues" : judged ? "none" : "unknown";
}

}  // namespace

Result<JobHours> SumJob(Connection& connection, const UnsummedJob& unsummed, std::int64_t now_us) {
  const Result<JobRow> job = LoadJob(connection, unsummed.job_id);
  if (!job) return job.error();
  const auto nodes = ListNodes(connection, job->job_id, kFacts);
  if (!nodes.ok()) return nodes.error();
  const auto rules = ListJudgedRules(connection, job->job_id);
  if (!rules.ok()) return rules.error();
  JobHours hours;
  hours.job_id = job->job_id;
  hours.name = job->name;
  hours.group = job->group;
  hours.ended = HasEnded(job->status);
  AddNodes(*nodes, *job, hours);
  AddRules(*rules, hours);
  hours.settled =
      hours.ended && unsummed.judged && unsummed.closed_us.value_or(0) + kLateUs < now_us;
  hours.written_us = now_us;
  return hours;
}

Result<int> SumJobs(Connection& connection, const Clock& clock, Time until) {
  const std::int64_t before_us = ToMicros(clock.Now()) - kAgainAfterUs;
  int summed = 0;
  while (clock.Now() < until) {
    const auto jobs = ListUnsummedJobs(connection, before_us, kJobsAtOnce);
    if (!jobs.ok()) return jobs.error();
    for (const UnsummedJob& job : *jobs) {
      const auto hours = SumJob(connection, job, ToMicros(clock.Now()));
      if (!hours.ok() && hours.error().code == Code::kNotFound) continue;
      if (!hours.ok()) return hours.error();
      if (const Status saved = SaveJobHours(connection, *hours); !saved) return saved.error();
      ++summed;
    }
    if (std::cmp_less(jobs->size(), kJobsAtOnce)) break;
  }
  return summed;
}

}  // namespace stepscope

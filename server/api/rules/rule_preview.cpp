// POST /jobs/{name}/rules/preview: the findings that a rule would have with these parameters.

#include <algorithm>

#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "server/api/http/answer.h"
#include "server/api/http/find_job.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/rules/given_rules.h"
#include "server/evaluate/preview.h"
#include "server/report/page/rule_answer.h"
#include "server/store/rules/create_job.h"

namespace stepscope {

namespace {

constexpr std::size_t kMostShown = 100;  // findings in an answer
// A preview keeps a core busy and a connection taken for a second.
constexpr int kMostAtOnce = 4;

// The stored rule of this name, with the number of its findings.
struct StoredRule {
  RuleStateRow state;
  std::int64_t findings = 0;
};

Result<std::optional<StoredRule>> FindStored(Connection& connection, std::int64_t job_id,
                                             const std::vector<RuleStateRow>& states,
                                             const std::string& name) {
  const auto found =
      std::ranges::find(states, name, [](const RuleStateRow& state) { return state.config.name; });
  if (found == states.end()) return std::optional<StoredRule>();
  const auto findings = ListFindings(connection, job_id, name, "", 1);
  if (!findings) return findings.error();
  return std::optional<StoredRule>({*found, findings->total});
}

std::string FiresToo(std::int64_t findings, std::int64_t now) {
  if (findings == now) return "it would have fired too, with as many findings";
  return Format("it would have fired too, with {} instead of {}", CountText(findings, "finding"),
                now);
}

std::string Difference(const Preview& preview, const std::optional<StoredRule>& now) {
  const bool fires = preview.status == RuleStatus::kIssuesFound;
  if (!now) return fires ? "it would have fired" : "it would not have fired";
  const bool fired = now->state.status == RuleStatus::kIssuesFound;
  if (fires && fired) return FiresToo(std::ssize(preview.findings), now->findings);
  if (fires) return "it would have fired; with its parameters of now it did not";
  return fired ? "it would not have fired; with its parameters of now it did"
               : "it would not have fired either";
}

OrderedJson JudgedOf(const Preview& preview) {
  OrderedJson json = {{"complete", preview.complete}, {"rows", preview.rows}};
  std::optional<std::int64_t> until_us;
  if (preview.seen) until_us = ToMicros(*preview.seen);
  PutTime(json, "until", until_us);
  const std::string until = preview.seen ? " up to " + ToRfc3339(*preview.seen) : "";
  json["sentence"] =
      preview.complete
          ? Format("all that is stored: {} ticks and steps", preview.rows)
          : Format(
                "only the oldest {} ticks and steps{}: a preview takes about a second; a change "
                "of the rule judges all that is stored, in the background",
                preview.rows, until);
  return json;
}

OrderedJson ToJson(const RuleConfigRow& config, const Preview& preview,
                   const std::optional<StoredRule>& now,
                   std::span<const TransitionRow> transitions) {
  RuleStateRow would;
  would.config = config;
  would.status = preview.status;
  would.verdict = preview.verdict;
  OrderedJson json = WholeRule(would, {});
  for (const char* time :
       {"last_modified_time", "last_modified_time_us", "evaluated", "evaluated_us"}) {
    json.erase(time);  // the rule is not stored
  }
  json["status_details"] = preview.verdict["status_details"];
  json["judged"] = JudgedOf(preview);
  json["findings_total"] = preview.findings.size();
  json["findings"] = OrderedJson::array();
  for (const FindingRow& finding : preview.findings) {
    if (json["findings"].size() == kMostShown) break;
    json["findings"].push_back(ToJson(finding));
  }
  json["now"] = nullptr;
  if (now) {
    json["now"] = ToJson(now->state, transitions);
    json["now"]["parameters"] = now->state.config.parameters;
    json["now"]["findings_total"] = now->findings;
  }
  json["difference"] = Difference(preview, now);
  return json;
}

RuleConfigRow Chosen(std::int64_t job_id, const NewJob::Rule& rule,
                     std::span<const RuleConfigRow> stored) {
  const auto known = std::ranges::find(stored, rule.name, &RuleConfigRow::name);
  const std::int64_t id = known == stored.end() ? 0 : known->rule_config_id;
  return {job_id, id, rule.name, rule.rule, rule.parameters};
}

// The first rule, which sums up the others as they would be. They share its time, and it is as
// complete as the least complete of them.
Result<Preview> PreviewFirst(Connection& connection, std::span<const RuleConfigRow> configs,
                             const Clock& clock) {
  PreviewOptions options;
  options.most /= std::ssize(configs);
  std::vector<RuleNow> others;
  std::optional<Preview> least;  // the earliest end of an incomplete one
  for (const RuleConfigRow& config : configs.subspan(1)) {
    auto other = PreviewRule(connection, config, clock, options);
    if (!other) return other.error();
    others.push_back(other->now);
    if (!other->complete && (!least || other->seen < least->seen)) least = std::move(*other);
  }
  auto first = PreviewRule(connection, configs.front(), clock, options, others);
  if (!first || !least || (!first->complete && first->seen < least->seen)) return first;
  first->complete = false;
  first->rows = least->rows;
  first->seen = least->seen;
  return first;
}

Result<Reply> PreviewJobRule(const Api& api, Connection& connection, const Request& request,
                             const PathParameters& path) {
  const Query query(request, {});
  Body body(request);
  if (!query.faults().empty()) return query.Refusal(request);
  if (!body.faults().empty()) return body.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const auto states = ListRuleStates(connection, job->job_id);
  if (!states) return states.error();
  std::vector<RuleConfigRow> stored;
  for (const RuleStateRow& state : *states) stored.push_back(state.config);
  const std::vector<NewJob::Rule> rules = ReadRuleWithOthers(body, stored);
  if (!body.faults().empty()) return body.Refusal(request);

  const auto now = FindStored(connection, job->job_id, *states, rules.front().name);
  if (!now) return now.error();
  std::vector<RuleConfigRow> configs;
  for (const NewJob::Rule& rule : rules) configs.push_back(Chosen(job->job_id, rule, stored));
  const auto preview = PreviewFirst(connection, configs, api.clock);
  if (!preview) return preview.error();
  const auto transitions = ListTransitions(connection, job->job_id);
  if (!transitions) return transitions.error();
  return JsonReply(ToJson(configs.front(), *preview, *now, *transitions));
}

}  // namespace

std::vector<Route> RulePreviewRoutes(const Api& api) {
  return {AtMost(kMostAtOnce, "previews of rules",
                 Bulk(ForDatabase(api, Right::kRead, "POST", "/api/v1/jobs/{name}/rules/preview",
                                  PreviewJobRule)))};
}

}  // namespace stepscope

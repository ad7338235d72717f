#include "agent/app/job/end_card.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/base/json_members.h"
#include "core/base/text.h"
#include "core/model/status.h"

namespace stepscope {
namespace {

constexpr Duration kRequestTime = 3s;
constexpr Duration kBetween = 500ms;
constexpr int kMostAsks = 30;
constexpr std::size_t kMostLines = 64, kLongestLine = 200;

bool IsJudged(const Json& rule) {
  const auto status = ParseRuleStatus(TextOf(rule, "rule_evaluation_status"));
  return status && *status != RuleStatus::kInProgress && *status != RuleStatus::kStopping;
}

// Whether the job's rules had their last turn. An answer that cannot be read says nothing.
bool SaysJudged(const HttpAnswer& answer) {
  const auto json = answer.status == 200 ? ParseJson(answer.body) : Result<Json>(Json());
  if (!json || !json->is_object()) return false;
  const auto status = ParseJobStatus(TextOf(*json, "status"));
  const Json rules = MemberArray(*json, "profiler_rule_evaluation_statuses");
  return status && HasEnded(*status) && std::ranges::all_of(rules, IsJudged);
}

std::string Refusal(const HttpAnswer& answer) {
  if (answer.status == 401 || answer.status == 403) {
    return "the token may not read jobs: one of the role operator may";
  }
  return Format("the service answered HTTP {}", answer.status);
}

// The service is not trusted with the terminal.
std::string VisibleLines(std::string_view text) {
  std::string visible;
  std::size_t lines = 0;
  for (const std::string_view line : Split(text, '\n')) {
    if (lines++ == kMostLines) break;
    visible += Printable(line, kLongestLine);
    visible += '\n';
  }
  while (visible.ends_with("\n\n")) visible.pop_back();
  return visible;
}

}  // namespace

Result<std::string> AskEndCard(const UplinkOptions& options, const std::string& job,
                               const PauseFor& pause) {
  UplinkOptions short_patience = options;
  short_patience.request_limit = kRequestTime;
  const auto uplink = Uplink::Make(short_patience);
  if (!uplink) return uplink.error();
  for (int ask = 0; ask < kMostAsks; ++ask) {
    const auto answer = (*uplink)->AskJob(job);
    if (!answer && answer.error().code != Code::kInvalid) return answer.error();
    if (answer && answer->status != 200) return Unavailable(Refusal(*answer));
    if ((answer && SaysJudged(*answer)) || !pause(kBetween)) break;
  }
  const auto card = (*uplink)->AskCard(job);
  if (!card) return card.error();
  if (card->status != 200) return Unavailable(Refusal(*card));
  return VisibleLines(card->body);
}

}  // namespace stepscope

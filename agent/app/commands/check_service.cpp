// CheckService of check.h.

#include <algorithm>
#include <cstdlib>

#include "agent/app/commands/check.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/wire/push_answer.h"

namespace stepscope {
namespace {

// From this offset on the service corrects the times of samples.
constexpr std::int64_t kNotedOffsetUs = 1'000'000;

CheckLine Line(std::string name, CheckResult finding, std::string text) {
  return {"service", std::move(name), finding, std::move(text)};
}

std::string TextOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? Printable(found->get<std::string>(), 80) : "";
}

// Explains an answer that is not a session.
void ExplainRefusal(const HttpAnswer& answer, bool has_token, CheckLines& lines) {
  const auto problem = DecodePushProblem(answer.body);
  if (!problem) {
    lines.push_back(Line("reachable", CheckResult::kWrong,
                         Format("something that is not a Stepscope service answers there (HTTP "
                                "status {})",
                                answer.status)));
    return;
  }
  lines.push_back(Line("reachable", CheckResult::kFine, "a Stepscope service"));
  const bool token = answer.status == 401 || answer.status == 403;
  std::string why = Printable(problem->detail);
  if (answer.status == 401 && !has_token) {
    why = "the service demands one: give --token-file, or set STEPSCOPE_TOKEN";
  }
  lines.push_back(Line(token ? "token" : "answer", CheckResult::kWrong, why));
}

std::string ScopesOf(const Json& session) {
  std::string scopes;
  const auto found = session.find("scopes");
  for (const Json& scope : found == session.end() ? Json::array() : *found) {
    if (!scope.is_string()) continue;
    scopes += Format("{}{}", scopes.empty() ? "" : ", ", Printable(scope.get<std::string>(), 80));
  }
  return scopes.empty() ? "all jobs" : "jobs " + scopes;
}

CheckLine TokenLine(const Json& session, bool has_token) {
  const std::string role = TextOf(session, "role");
  if (TextOf(session, "access") == "open") {
    return Line("token", CheckResult::kAbsent,
                has_token ? "one is shown, but the service takes samples from everybody"
                          : "none is needed: the service takes samples from everybody");
  }
  const bool sends = role == "agent" || role == "operator" || role == "admin";
  if (!sends) {
    return Line("token", CheckResult::kWrong,
                Format("its role is {}, which may not send samples; one of role agent may", role));
  }
  const std::string taken =
      Format("{}: role {}, {}", TextOf(session, "name"), role, ScopesOf(session));
  if (role == "agent") return Line("token", CheckResult::kFine, taken);
  return Line("token", CheckResult::kNote, taken + "; one of role agent is enough for a node");
}

CheckLine ClockLine(const Json& session, Time middle, Duration round_trip) {
  const auto found = session.find("server_time_us");
  if (found == session.end() || !found->is_number_integer()) {
    return Line("clock", CheckResult::kAbsent, "the service does not say what time it has");
  }
  const std::int64_t ahead_us = ToMicros(middle) - found->get<std::int64_t>();
  const double ahead_ms = static_cast<double>(std::abs(ahead_us)) / 1000;
  const std::string text =
      Format("{:.1f} ms {} the service's (± {:.1f} ms)", ahead_ms,
             ahead_us < 0 ? "behind" : "ahead of", ToSeconds(round_trip) * 1000 / 2);
  if (std::abs(ahead_us) <= kNotedOffsetUs + round_trip / 1us) {
    return Line("clock", CheckResult::kFine, text);
  }
  return Line("clock", CheckResult::kNote, text + "; samples are moved by that: set up NTP");
}

// Asks for the session twice: the first request connects, only the second shows how long an answer
// takes.
void CheckAnswer(Uplink& uplink, const UplinkOptions& options, const Clock& clock,
                 CheckLines& lines) {
  const bool has_token = !options.token.empty() || !options.token_file.empty();
  const auto first = uplink.AskWhoAmI();
  const Time sent = clock.Now();
  const SteadyTime sent_steady = clock.Steady();
  const auto answer = first ? uplink.AskWhoAmI() : first;
  const Duration round_trip = clock.Steady() - sent_steady;
  const std::string server = Printable(options.server);
  if (!answer) {
    lines.push_back(
        Line("reachable", CheckResult::kWrong, Format("{}: {}", server, answer.error().message)));
    return;
  }
  const auto session = ParseJson(answer->body);
  if (answer->status != 200 || !session || TextOf(*session, "access").empty()) {
    return ExplainRefusal(*answer, has_token, lines);
  }
  const std::string version = TextOf(*session, "version");
  lines.push_back(Line(
      "reachable", CheckResult::kFine,
      Format("{}: Stepscope {}, answers in {:.1f} ms", server,
             version.empty() ? "of an older version" : version, ToSeconds(round_trip) * 1000)));
  lines.push_back(TokenLine(*session, has_token));
  lines.push_back(ClockLine(*session, sent + round_trip / 2, round_trip));
}

}  // namespace

void CheckService(const UplinkOptions& options, const Clock& clock, CheckLines& lines) {
  if (options.server.empty()) {
    lines.push_back(Line("reachable", CheckResult::kAbsent, "not looked at: no --server is given"));
    return;
  }
  const auto uplink = Uplink::Make(options);
  if (!uplink) {
    lines.push_back(Line("settings", CheckResult::kWrong, uplink.error().message));
    return;
  }
  for (const std::string& path : {options.token_file, options.key_file}) {
    if (Status kept = CheckPrivate(path); !kept) {
      lines.push_back(Line("settings", CheckResult::kNote, kept.error().message));
    }
  }
  CheckAnswer(**uplink, options, clock, lines);
}

}  // namespace stepscope

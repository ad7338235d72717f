#include "core/wire/push_answer.h"

#include "core/base/json.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// Reads a non-negative whole number; sets `ok` to false and returns 0 for anything else.
std::uint64_t Number(const Json& json, const char* key, bool& ok) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_unsigned()) {
    ok = false;
    return 0;
  }
  return found->get<std::uint64_t>();
}

std::string Text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

constexpr std::size_t kMostCommands = 16;
constexpr std::size_t kLongestId = 64;

OrderedJson ToJson(const ServiceCommand& command) {
  OrderedJson json = {{"id", command.id}, {"kind", command.kind}};
  if (command.kind == kIntervalCommand) json["interval_ms"] = command.interval_ms;
  if (command.kind == kWindowCommand || command.kind == kSpansCommand) {
    json["start_step"] = command.start_step;
    json["num_steps"] = command.num_steps;
  }
  if (command.kind == kSpansCommand) {
    json["window_id"] = command.window_id;
    json["wait_seconds"] = command.wait_seconds;
    if (command.operators) json["operators"] = true;
    if (command.shapes) json["shapes"] = true;
  }
  return json;
}

// Leaves out entries that are no command: a later service may ask for more than this agent knows.
std::vector<ServiceCommand> Commands(const Json& answer) {
  std::vector<ServiceCommand> commands;
  const auto list = answer.find("commands");
  if (list == answer.end() || !list->is_array()) return commands;
  for (const Json& json : *list) {
    if (!json.is_object() || commands.size() == kMostCommands) continue;
    bool has_all = true;
    const auto number = [&](const char* key) {
      return static_cast<std::int64_t>(Number(json, key, has_all));
    };
    const auto flag = [&](const char* key) { return json.value(key, Json()) == Json(true); };
    ServiceCommand command{Text(json, "id"),       Text(json, "kind"),  number("interval_ms"),
                           number("start_step"),   number("num_steps"), number("window_id"),
                           number("wait_seconds"), flag("operators"),   flag("shapes")};
    if (command.id.empty() || command.id.size() > kLongestId) continue;
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace

std::string EncodePushAnswer(const PushAnswer& answer) {
  OrderedJson json;
  json["acknowledged"] = answer.acknowledged;
  json["expected"] = answer.expected;
  json["rejected"] = OrderedJson::array();
  for (const RejectedFrame& frame : answer.rejected) {
    json["rejected"].push_back(
        {{"sequence", frame.sequence}, {"code", frame.code}, {"detail", frame.detail}});
  }
  json["server_time_us"] = ToMicros(answer.server_time);
  for (const ServiceCommand& command : answer.commands) json["commands"].push_back(ToJson(command));
  return Dump(json);
}

Result<PushAnswer> DecodePushAnswer(std::string_view text) {
  const Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error();
  bool ok = json->is_object();
  if (!ok) return Invalid("answer: not a JSON object");
  PushAnswer answer;
  answer.acknowledged = Number(*json, "acknowledged", ok);
  answer.expected = Number(*json, "expected", ok);
  answer.server_time = FromMicros(static_cast<std::int64_t>(Number(*json, "server_time_us", ok)));
  const auto rejected = json->find("rejected");
  ok = ok && rejected != json->end() && rejected->is_array();
  if (!ok) return Invalid("answer: not the answer of a Stepscope service");
  for (const Json& frame : *rejected) {
    if (!frame.is_object()) return Invalid("answer: a rejected frame that is no object");
    answer.rejected.push_back(
        {Number(frame, "sequence", ok), Text(frame, "code"), Text(frame, "detail")});
  }
  if (!ok) return Invalid("answer: a rejected frame without its number");
  answer.commands = Commands(*json);
  return answer;
}

Result<PushProblem> DecodePushProblem(std::string_view text) {
  const Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error();
  if (!json->is_object() || Text(*json, "code").empty()) {
    return Invalid("answer: not a problem of a Stepscope service");
  }
  bool has_expected = true;
  PushProblem problem{Text(*json, "code"), Number(*json, "expected", has_expected),
                      Text(*json, "detail")};
  return problem;
}

}  // namespace stepscope

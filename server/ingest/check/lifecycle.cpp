#include "server/ingest/check/lifecycle.h"

#include "core/base/text.h"
#include "core/model/names.h"
#include "core/wire/push_answer.h"
#include "server/ingest/check/bounded_facts.h"
#include "server/store/jobs/interval_requests.h"
#include "server/store/jobs/windows.h"

namespace stepscope {
namespace {

constexpr std::int64_t kYear2000 = 946'684'800'000'000, kYear2100 = 4'102'444'800'000'000;
constexpr std::int64_t kLargestRank = kMostJobRanks - 1, kMostStopRequests = 1'000'000;
constexpr std::size_t kMostOutputLines = 100, kLongestOutputLine = 4096, kMostArguments = 4096,
                      kLongestAnswer = 256;
constexpr std::int64_t kMostSpansSaid = std::int64_t{1} << 53;  // the largest whole number of JSON

struct Word {
  std::string_view text;
  LifecycleEvent event;
};
constexpr Word kEvents[] = {{"started", LifecycleEvent::kStarted},
                            {"rank", LifecycleEvent::kRank},
                            {"rank_ended", LifecycleEvent::kRankEnded},
                            {"ended", LifecycleEvent::kEnded},
                            {"answered", LifecycleEvent::kAnswered}};
constexpr std::string_view kReasons[] = {"dropped", "corrupt", "refused"};

Result<std::int64_t> Number(const Json& json, const char* key, std::int64_t least,
                            std::int64_t most) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) {
    return Invalid(Format("{}: must be a whole number", key));
  }
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX) {
    return Invalid(Format("{}: too large", key));
  }
  const std::int64_t value = found->get<std::int64_t>();
  if (value < least || value > most) {
    return Invalid(Format("{}: {} is not between {} and {}", key, value, least, most));
  }
  return value;
}

// An object, or an empty one when it is missing.
Result<Json> Object(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return Json::object();
  if (!found->is_object()) return Invalid(Format("{}: must be an object", key));
  return *found;
}

// A list of texts, shortened to what is kept; null when it is missing.
Result<Json> Texts(const Json& json, const char* key, std::size_t most, std::size_t longest) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return Json(nullptr);
  if (!found->is_array()) return Invalid(Format("{}: must be a list", key));
  Json texts = Json::array();
  for (const Json& text : *found) {
    if (!text.is_string()) return Invalid(Format("{}: must be a list of texts", key));
    if (texts.size() == most) break;
    texts.push_back(ValidUtf8(text.get<std::string>().substr(0, longest)));
  }
  return texts;
}

Status ReadStarted(const Json& json, Lifecycle& out) {
  if (const auto group = json.find("group"); group != json.end() && *group != "") {
    if (!group->is_string()) return Invalid("group: must be a text");
    out.group = group->get<std::string>();
    if (Status checked = CheckLabel("group", out.group); !checked) return checked;
  }
  Result<Json> facts = Object(json, "facts");
  if (!facts) return facts.error();
  const Result<Json> command = Texts(json, "command", kMostArguments, kLongestOutputLine);
  if (!command) return command.error();
  out.facts = std::move(*facts);
  Json words = command->is_null() ? Json::array() : *command;
  KeepFirstTexts(words, kMostCommand);
  out.facts["command"] = std::move(words);
  BoundFacts(out.facts, kMostNodeFacts);
  if (!json.contains("interval_ms")) return {};
  const Result<std::int64_t> interval = Number(json, "interval_ms", 100, 60'000);
  if (!interval) return interval.error();
  out.interval_ms = *interval;
  return {};
}

Status ReadRank(const Json& json, Lifecycle& out) {
  const Result<std::int64_t> rank = Number(json, "rank", 0, kLargestRank);
  if (!rank) return rank.error();
  out.rank = static_cast<int>(*rank);
  Result<Json> facts = Object(json, "facts");
  if (!facts) return facts.error();
  out.facts = std::move(*facts);
  BoundFacts(out.facts, kMostRankFacts);
  return {};
}

Status ReadEnded(const Json& json, Lifecycle& out) {
  const char* key = json.contains("signal") ? "signal" : "exit_code";
  const auto found = json.find(key);
  if (found == json.end() || !found->is_null()) {
    const Result<std::int64_t> value = Number(json, key, 0, 255);
    if (!value) return value.error();
    (json.contains("signal") ? out.exit_signal : out.exit_code) = *value;
  }
  Result<Json> output = Texts(json, "output", kMostOutputLines, kLongestOutputLine);
  if (!output) return output.error();
  out.output = std::move(*output);
  KeepLastTexts(out.output, kMostOutput);
  if (const auto reason = json.find("reason"); reason != json.end()) {
    if (!reason->is_string()) return Invalid("reason: must be a text");
    out.reason = ValidUtf8(reason->get<std::string>().substr(0, kLongestAnswer));
  }
  return {};
}

// The number of "interval-7"; 0 for a command of another kind, or one that was never given.
std::int64_t NumberOf(std::string_view id, std::string_view kind, std::int64_t most) {
  const std::size_t dash = id.rfind('-');
  if (dash == id.npos || id.substr(0, dash) != kind) return 0;
  const auto number = ParseInt(id.substr(dash + 1), "command");
  return number && *number > 0 && *number <= most ? *number : 0;
}

Status ReadAnswered(const Json& json, Lifecycle& out) {
  for (const char* key : {"command", "outcome", "reason"}) {
    const auto text = json.find(key);
    if (text == json.end() || !text->is_string()) return Invalid(Format("{}: must be a text", key));
    out.answer[key] = ValidUtf8(text->get<std::string>().substr(0, kLongestAnswer));
  }
  if (out.answer["outcome"] != "done" && out.answer["outcome"] != "refused") {
    return Invalid("outcome: must be done or refused");
  }
  const std::string command = out.answer["command"].get<std::string>();
  out.interval_change = NumberOf(command, kIntervalCommand, kMostIntervalChanges);
  out.stop_request = NumberOf(command, kStopCommand, kMostStopRequests);
  out.window_id = NumberOf(command, kSpansCommand, kMostWindows);
  if (out.window_id == 0) return {};
  for (const auto& [key, count] : {std::pair("spans", &out.spans), {"dropped", &out.dropped}}) {
    if (!json.contains(key)) continue;  // an agent that does not know the command
    const Result<std::int64_t> value = Number(json, key, 0, kMostSpansSaid);
    if (!value) return value.error();
    *count = *value;
  }
  return {};
}

Status ReadEvent(const Json& json, Lifecycle& out) {
  switch (out.event) {
    case LifecycleEvent::kStarted:
      return ReadStarted(json, out);
    case LifecycleEvent::kEnded:
      return ReadEnded(json, out);
    case LifecycleEvent::kAnswered:
      return ReadAnswered(json, out);
    case LifecycleEvent::kRank:
    case LifecycleEvent::kRankEnded:
      break;
  }
  return ReadRank(json, out);
}

}  // namespace

bool IsSaneTime(std::int64_t at_us) {
  return at_us >= kYear2000 && at_us < kYear2100;
}

Result<Lifecycle> ParseLifecycle(std::string_view payload) {
  const Result<Json> json = ParseJson(payload);
  if (!json) return json.error();
  if (!json->is_object()) return Invalid("lifecycle: not an object");
  const Result<std::int64_t> at_us = Number(*json, "at_us", kYear2000, kYear2100 - 1);
  if (!at_us) return at_us.error();
  const auto name = json->find("event");
  for (const Word& word : kEvents) {
    if (name == json->end() || *name != word.text) continue;
    Lifecycle out;
    out.event = word.event;
    out.at_us = *at_us;
    if (const Status read = ReadEvent(*json, out); !read) return read.error();
    return out;
  }
  return Invalid("event: must be started, rank, rank_ended, ended or answered");
}

Result<LostRange> ParseLostRange(std::string_view payload, std::uint64_t sequence) {
  const Result<Json> json = ParseJson(payload);
  if (!json) return json.error();
  if (!json->is_object()) return Invalid("lost: not an object");
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  const auto first = static_cast<std::int64_t>(sequence);
  if (const auto given = Number(*json, "first", first, first); !given) return given.error();
  const Result<std::int64_t> last = Number(*json, "last", first, kMost);
  if (!last) return last.error();
  LostRange range;
  range.last = static_cast<std::uint64_t>(*last);
  range.detail = {{"first", first}, {"last", *last}};
  for (const std::string_view reason : kReasons) {
    if (json->contains("reason") && (*json)["reason"] == reason) range.detail["reason"] = reason;
  }
  if (!range.detail.contains("reason")) {
    return Invalid("reason: must be dropped, corrupt or refused");
  }
  for (const char* key : {"from_us", "to_us", "samples"}) {
    if (const auto value = Number(*json, key, 0, kMost)) range.detail[key] = *value;
  }
  return range;
}

}  // namespace stepscope

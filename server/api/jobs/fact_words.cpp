#include "server/api/jobs/fact_words.h"

#include <algorithm>

#include "core/base/text.h"
#include "rules/catalog/catalog.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestValue = 200;
// Another process or another device of the same kind is no difference, and the job's page shows
// what an agent could not do.
constexpr std::string_view kNoFacts[] = {"pid",         "absent", "last_command", "dropped",
                                         "device_uuid", "device", "uuid",         "pci_address",
                                         "read_seldom", "rules"};

bool IsFact(std::string_view key) {
  return std::ranges::find(kNoFacts, key) == std::end(kNoFacts);
}

std::string NumberWords(std::string_view key, const Json& value) {
  if (key.ends_with("_bytes")) return FormatBytes(value.get<double>());
  return Dump(value) + (key.ends_with("_ms") ? " ms" : "");
}

// "interval_ms" -> "interval".
std::string KeyWords(std::string_view key) {
  if (key.ends_with("_ms")) key.remove_suffix(3);
  return FormatKey(key);
}

std::string ListWords(const Json& list) {
  std::vector<std::pair<std::string, int>> kinds;
  for (const Json& item : list) {
    std::string words = FactWords("", item);
    const auto known = std::ranges::find(kinds, words, &std::pair<std::string, int>::first);
    known == kinds.end() ? void(kinds.emplace_back(std::move(words), 1)) : void(++known->second);
  }
  std::string text;
  for (const auto& [words, count] : kinds) {
    if (!text.empty()) text += list.front().is_object() ? "; " : ", ";
    text += count == 1 ? words : Format("{} x {}", count, words);
  }
  return text.empty() ? "none" : text;
}

std::string ObjectWords(const Json& object) {
  std::string text = object.contains("name") ? FactWords("name", object["name"]) : "";
  for (const auto& [key, value] : object.items()) {
    if (key == "name" || !IsFact(key)) continue;
    text += (text.empty() ? "" : ", ") + KeyWords(key) + " " + FactWords(key, value);
  }
  return text.empty() ? "without a name" : text;
}

std::string CommandWords(const Json& words) {
  std::string text;
  for (const Json& word : words) text += (text.empty() ? "" : " ") + FactWords("", word);
  return text;
}

std::string UnitOf(const RuleConfigRow& config, const std::string& parameter) {
  const RuleType* type = FindRule(config.rule);
  if (type == nullptr) return "";
  const auto found = std::ranges::find(type->params, parameter, &Param::name);
  return found == type->params.end() || found->unit.empty() ? "" : Format(" {}", found->unit);
}

}  // namespace

std::string FactWords(std::string_view key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) return NumberWords(key, value);
  if (value.is_array()) return key == "command" ? CommandWords(value) : ListWords(value);
  return value.is_object() ? ObjectWords(value) : "none";
}

void PutFacts(std::string_view of, const Json& object, Facts& facts) {
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.items()) {
    if (key == "tags") {
      PutFacts("tag: ", value, facts);
    } else if (IsFact(key) && !value.is_null()) {
      facts[std::string(of) + KeyWords(key)] = Printable(FactWords(key, value), kLongestValue);
    }
  }
}

Facts ParametersOf(const std::vector<RuleStateRow>& rules) {
  Facts facts;
  for (const RuleStateRow& rule : rules) {
    const RuleConfigRow& config = rule.config;
    if (!config.parameters.is_object()) continue;
    for (const auto& [key, value] : config.parameters.items()) {
      facts[Format("rule {}: {}", config.name, FormatKey(key))] =
          Printable(FactWords("", value) + UnitOf(config, key), kLongestValue);
    }
  }
  return facts;
}

}  // namespace stepscope

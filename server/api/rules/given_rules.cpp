#include "server/api/rules/given_rules.h"

#include <algorithm>
#include <set>

#include "core/base/text.h"
#include "core/model/names.h"
#include "rules/catalog/catalog.h"
#include "server/api/rules/report_parameters.h"
#include "server/store/rules/create_job.h"

namespace stepscope {
namespace {

constexpr char kPointer[] = "/configuration/rules";

const RuleConfigRow* Find(std::span<const RuleConfigRow> configured, const std::string& name) {
  const auto found = std::ranges::find(configured, name, &RuleConfigRow::name);
  return found == configured.end() ? nullptr : &*found;
}

void List(std::string& list, std::string_view name) {
  list += (list.empty() ? "" : ", ") + Printable(name, 64);
}

// Notes an item that has no rule, and no name of one that is configured.
void NoteNoRule(Body& body, const std::string& pointer, const std::string& name,
                std::span<const RuleConfigRow> configured) {
  const std::string shown = Printable(name, 64);
  if (name.empty()) {
    body.Note(pointer + "/rule", Format("\"rule\" is wanted, one of {}", RulesThereAre()));
  } else if (configured.empty()) {
    body.Note(pointer + "/rule",
              Format("'{}' is new and needs \"rule\", one of {}", shown, RulesThereAre()));
  } else {
    std::string names;
    for (const RuleConfigRow& row : configured) List(names, row.name);
    body.Note(
        pointer + "/name",
        Format("the job has no rule '{}'; it has {}; a new one needs \"rule\"", shown, names));
  }
}

// Reads name and rule; false when there is no such rule, or the name is another rule's.
bool ReadNames(Body& body, const Json& given, const std::string& pointer,
               std::span<const RuleConfigRow> configured, NewJob::Rule& rule) {
  const std::size_t faults = body.faults().size();
  rule.rule = body.Text(given, pointer, "rule", 63);
  rule.name = given.contains("name") ? body.Text(given, pointer, "name", 63) : rule.rule;
  if (body.faults().size() > faults) return false;
  const RuleConfigRow* known = Find(configured, rule.name);
  if (known && !given.contains("rule")) rule.rule = known->rule;
  if (!known && !given.contains("rule")) {
    NoteNoRule(body, pointer, rule.name, configured);
  } else if (!FindRule(rule.rule)) {
    body.Note(pointer + "/rule", Format("there is no rule '{}'; there are {}",
                                        Printable(rule.rule, 64), RulesThereAre()));
  } else if (known && known->rule != rule.rule) {
    body.Note(pointer + "/rule", Format("'{}' is a {}; remove it first, or choose another name",
                                        Printable(rule.name, 64), known->rule));
  } else if (const Status good = CheckLabel("name", rule.name); !good) {
    body.Note(pointer + "/name", good.error().message);
  }
  return body.faults().size() == faults;
}

// The configured parameters, changed by the given ones.
Json Merged(const RuleConfigRow* known, const Json& given) {
  Json merged = known ? known->parameters : Json::object();
  for (const auto& [name, value] : given.items()) {
    if (value.is_null()) {
      merged.erase(name);
    } else {
      merged[name] = value;
    }
  }
  return merged;
}

// Reads an item that removes a rule; only its names are checked.
std::string ReadRemoved(Body& body, const Json& given, const std::string& pointer,
                        std::span<const RuleConfigRow> configured) {
  body.AllowOnly(given, pointer, {"name", "remove"});
  const std::string name = body.Text(given, pointer, "name", 63);
  if (given["remove"] != true) body.Note(pointer + "/remove", "true is wanted, or nothing");
  if (!Find(configured, name)) {
    body.Note(pointer + "/name", Format("the job has no rule '{}'", Printable(name, 64)));
  }
  return name;
}

void NoteTwice(Body& body, std::set<std::string>& names, const std::string& name,
               const std::string& pointer) {
  if (name.empty() || names.insert(name).second)
    return;  // an item without a name was refused before
  body.Note(pointer,
            Format("'{}' stands twice; give one of them another name", Printable(name, 64)));
}

// The default rules, changed as the list says.
std::vector<NewJob::Rule> ReadChanged(Body& body, const Json& configuration,
                                      std::vector<NewJob::Rule> rules) {
  std::vector<RuleConfigRow> configured;
  for (const NewJob::Rule& rule : rules) {
    configured.push_back({0, 0, rule.name, rule.rule, rule.parameters});
  }
  const RuleChanges changes = ReadRuleChanges(body, configuration, configured);
  for (const std::string& name : changes.removed) {
    std::erase_if(rules, [&](const NewJob::Rule& rule) { return rule.name == name; });
  }
  for (const NewJob::Rule& rule : changes.put) {
    std::erase_if(rules, [&](const NewJob::Rule& known) { return known.name == rule.name; });
    rules.push_back(rule);
  }
  return rules;
}

}  // namespace

NewJob::Rule ReadRule(Body& body, const Json& given, const std::string& pointer,
                      std::span<const RuleConfigRow> configured) {
  NewJob::Rule rule;
  if (!given.is_object()) {
    body.Note(pointer, "an object is wanted");
    return rule;
  }
  body.AllowOnly(given, pointer, {"name", "rule", "parameters"});
  if (!ReadNames(body, given, pointer, configured, rule)) return rule;
  const Json parameters = body.Object(given, pointer, "parameters");
  Result<Json> complete =
      CompleteParameters(*FindRule(rule.rule), Merged(Find(configured, rule.name), parameters));
  if (!complete) body.Note(pointer + "/parameters", complete.error().message);
  if (complete) rule.parameters = std::move(*complete);
  return rule;
}

std::vector<NewJob::Rule> ReadRules(Body& body, const Json& configuration,
                                    const std::vector<NewJob::Rule>& default_rules) {
  const Json list = body.Array(configuration, "/configuration", "rules", kMostRules);
  if (IsOfOthersAlone(list)) return ReadChanged(body, configuration, default_rules);
  std::vector<NewJob::Rule> rules;
  std::set<std::string> names;
  for (const auto& [item, pointer] : ReadGivenRules(body, list, kPointer, {})) {
    rules.push_back(ReadRule(body, item, pointer, {}));
    NoteTwice(body, names, rules.back().name, pointer);
  }
  return rules;
}

std::vector<NewJob::Rule> ReadRuleWithOthers(Body& body,
                                             std::span<const RuleConfigRow> configured) {
  std::vector<GivenRule> given = {{body.root(), ""}};
  GiveToOthers(body, configured, given);
  std::vector<NewJob::Rule> rules;
  for (const auto& [item, pointer] : given)
    rules.push_back(ReadRule(body, item, pointer, configured));
  return rules;
}

RuleChanges ReadRuleChanges(Body& body, const Json& configuration,
                            std::span<const RuleConfigRow> configured) {
  const Json list = body.Array(configuration, "/configuration", "rules", kMostRules);
  RuleChanges changes;
  std::set<std::string> names;
  std::size_t count = configured.size();
  for (const auto& [item, pointer] : ReadGivenRules(body, list, kPointer, configured)) {
    if (item.is_object() && item.contains("remove")) {
      changes.removed.push_back(ReadRemoved(body, item, pointer, configured));
      const RuleConfigRow* removed = Find(configured, changes.removed.back());
      if (removed && SumsUp(removed->rule)) changes.quiet.push_back(removed->name);
      NoteTwice(body, names, changes.removed.back(), pointer);
      --count;
      continue;
    }
    changes.put.push_back(ReadRule(body, item, pointer, configured));
    NoteTwice(body, names, changes.put.back().name, pointer);
    if (!Find(configured, changes.put.back().name)) ++count;
  }
  if (count > kMostRules) {
    body.Note(kPointer, Format("that would be {} rules, at most {} are taken", count, kMostRules));
  }
  return changes;
}

std::vector<NewJob::Rule> DefaultRules() {
  std::vector<NewJob::Rule> rules;
  for (const RuleType& type : Catalog()) {
    Result<Json> parameters = CompleteParameters(type, nullptr);
    rules.push_back({std::string(type.name), std::string(type.name),
                     parameters ? std::move(*parameters) : Json::object()});
  }
  return rules;
}

Result<std::vector<NewJob::Rule>> ReadDefaultRules(const std::string& json) {
  if (Trim(json).empty()) return Invalid("the file is empty");
  const Result<Json> list = ParseJson(json);
  if (!list) return list.error();
  Request request;
  request.body = Dump(Json{{"rules", *list}});
  Body body(request);
  std::vector<NewJob::Rule> rules = ReadChanged(body, body.root(), DefaultRules());
  if (!body.faults().empty()) {
    const Fault& first = body.faults().front();
    const bool inside = first.pointer.starts_with(kPointer);
    const std::string pointer = inside ? first.pointer.substr(std::size(kPointer) - 1) : "";
    return Invalid(Format("{}{}{}", pointer, pointer.empty() ? "" : ": ", first.detail));
  }
  return rules;
}

Json ToJson(std::span<const NewJob::Rule> rules) {
  Json list = Json::array();
  for (const NewJob::Rule& rule : rules) {
    list.push_back({{"name", rule.name}, {"rule", rule.rule}, {"parameters", rule.parameters}});
  }
  return list;
}

}  // namespace stepscope

#include "server/api/rules/report_parameters.h"

#include <algorithm>

#include "core/base/json_members.h"
#include "core/base/text.h"
#include "rules/catalog/catalog.h"

namespace stepscope {
namespace {

std::string NameOf(const Json& item) {
  if (!item.is_object()) return "";
  return TextOf(item, item.contains("name") ? "name" : "rule");
}

bool IsConfigured(std::span<const RuleConfigRow> configured, const std::string& name) {
  return std::ranges::find(configured, name, &RuleConfigRow::name) != configured.end();
}

// The type of an item that sums up others and is given parameters; else null.
const RuleType* SummingUp(const Json& item, std::span<const RuleConfigRow> configured) {
  if (!item.is_object() || !item.contains("parameters")) return nullptr;
  if (!item["parameters"].is_object()) return nullptr;
  std::string rule = TextOf(item, "rule");
  const auto known = std::ranges::find(configured, NameOf(item), &RuleConfigRow::name);
  if (!item.contains("rule") && known != configured.end()) rule = known->rule;
  const RuleType* type = FindRule(rule);
  return type != nullptr && type->sums_up ? type : nullptr;
}

bool IsOwn(const RuleType& type, const std::string& parameter) {
  return std::ranges::find(type.params, std::string_view(parameter), &Param::name) !=
         type.params.end();
}

void NoteUnknown(Body& body, const std::string& pointer, const RuleType& type,
                 const std::string& parameter) {
  std::string own;
  for (const Param& each : type.params) own += std::string(each.name) + ", ";
  body.Note(pointer, Format("{}: there is no parameter '{}'; it has {}and <Rule>_<parameter> for a "
                            "parameter of another rule, one of {}",
                            type.name, Printable(parameter, 80), own, RulesThereAre()));
}

// Gives a value to a parameter of another rule of the list.
void Give(Body& body, const std::string& pointer, const std::string& given, const Json& value,
          const std::string& parameter, GivenRule& rule) {
  Json& item = rule.item;
  if (item.contains("remove")) {
    body.Note(pointer, Format("{}: the same list removes that rule", Printable(given, 120)));
    return;
  }
  if (!item.contains("parameters")) item["parameters"] = Json::object();
  Json& parameters = item["parameters"];
  if (!parameters.is_object()) return;  // which is a fault of its own
  if (parameters.contains(parameter) && parameters[parameter] != value) {
    body.Note(pointer,
              Format("{} is {}, but {} itself is given {} as {}; give it once",
                     Printable(given, 120), Printable(Dump(value), 60), NameOf(item),
                     Printable(Dump(parameters[parameter]), 60), Printable(parameter, 80)));
  }
  parameters[parameter] = value;
}

// Moves the parameters of other rules from the item at `from` to those rules.
void Spread(Body& body, const RuleType& type, std::size_t from,
            std::span<const RuleConfigRow> configured, std::vector<GivenRule>& rules) {
  const std::string pointer = rules[from].pointer + "/parameters";
  const Json all = rules[from].item["parameters"];
  for (const auto& [given, value] : all.items()) {
    if (IsOwn(type, given)) continue;
    rules[from].item["parameters"].erase(given);
    const std::size_t end = std::min(given.find('_'), given.size());
    const std::string name = given.substr(0, end);
    const RuleType* other = FindRule(name);
    if (other == nullptr || other->sums_up || end == given.size()) {
      NoteUnknown(body, pointer, type, given);
      continue;
    }
    auto to =
        std::ranges::find(rules, name, [](const GivenRule& rule) { return NameOf(rule.item); });
    if (to == rules.end() && !IsConfigured(configured, name)) {
      const Json itself = {{"rule", name}, {"parameters", {{given.substr(end + 1), value}}}};
      body.Note(pointer, Format("{}: the job has no rule '{}'; choose the rule itself, by {}",
                                Printable(given, 120), name, Printable(Dump(itself), 240)));
      continue;
    }
    if (to == rules.end()) to = rules.insert(to, {Json{{"name", name}}, rules[from].pointer});
    Give(body, pointer, given, value, given.substr(end + 1), *to);
  }
}

}  // namespace

std::string RulesThereAre() {
  std::string list;
  for (const RuleType& type : Catalog()) list += std::string(type.name) + ", ";
  return list.append(CustomRule().name);
}

std::vector<GivenRule> ReadGivenRules(Body& body, const Json& list, const std::string& pointer,
                                      std::span<const RuleConfigRow> configured) {
  std::vector<GivenRule> rules;
  for (std::size_t at = 0; at < list.size(); ++at) {
    rules.push_back({list[at], Format("{}/{}", pointer, at)});
  }
  GiveToOthers(body, configured, rules);
  return rules;
}

void GiveToOthers(Body& body, std::span<const RuleConfigRow> configured,
                  std::vector<GivenRule>& rules) {
  const std::size_t given = rules.size();
  for (std::size_t at = 0; at < given; ++at) {
    const RuleType* type = SummingUp(rules[at].item, configured);
    if (type != nullptr) Spread(body, *type, at, configured, rules);
  }
}

bool IsOfOthersAlone(const Json& list) {
  bool of_others = false;
  for (const Json& item : list) {
    const RuleType* type = SummingUp(item, {});
    if (type == nullptr) return false;
    for (const auto& [given, value] : item["parameters"].items()) {
      of_others = of_others || !IsOwn(*type, given);
    }
  }
  return of_others;
}

}  // namespace stepscope

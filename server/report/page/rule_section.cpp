#include "server/report/page/rule_section.h"

#include <algorithm>

#include "server/report/page/rule_answer.h"

namespace stepscope {
namespace {

std::vector<UsedParameter> ParametersOf(const RuleType* type, const Json& given,
                                        Duration interval) {
  std::vector<UsedParameter> used;
  if (type == nullptr) return used;
  const auto read = Params::Read(type->name, type->params, given, interval);
  for (const Param& param : type->params) {
    const std::string name(param.name);
    UsedParameter one{name,
                      given.is_object() ? given.value(name, Json()) : Json(),
                      std::string(param.unit),
                      std::string(param.help),
                      {},
                      {}};
    if (read && param.unit == "samples") {
      one.samples = read->Samples(param.name);
      one.seconds = static_cast<double>(*one.samples) * ToSeconds(interval);
    }
    used.push_back(std::move(one));
  }
  return used;
}

std::int64_t TriggersOf(const OrderedJson& answer, std::int64_t findings) {
  const auto& evidence = answer["evidence"];
  const auto counted = evidence.find("triggers");
  const bool counts = counted != evidence.end() && counted->is_number_integer();
  return counts ? counted->get<std::int64_t>() : findings;
}

RuleSection SectionOf(const RuleStateRow& state, std::span<const TransitionRow> transitions,
                      RuleFindings findings, Duration interval) {
  const RuleType* type = FindRule(state.config.rule);
  RuleSection section;
  section.name = state.config.name;
  section.rule = state.config.rule;
  if (type != nullptr) section.looks_for = type->sentence;
  section.status = state.status;
  section.answer = WholeRule(state, transitions);
  section.judged = section.answer["verdict"]["kind"] != "unknown";
  section.triggers = TriggersOf(section.answer, findings.total);
  section.parameters = ParametersOf(type, state.config.parameters, interval);
  section.findings = std::move(findings.longest);
  section.findings_total = findings.total;
  return section;
}

// The order of the rules: first rules that found issues, by triggers; then rules that found none;
// then the unjudged.
int PlaceOf(const RuleSection& section) {
  if (section.status == RuleStatus::kIssuesFound) return 0;
  if (section.status == RuleStatus::kError) return 1;
  return section.judged ? 2 : 3;
}

}  // namespace

std::vector<RuleSection> RuleSections(std::span<const RuleStateRow> states,
                                      std::span<const TransitionRow> transitions,
                                      std::map<std::int64_t, RuleFindings> findings,
                                      Duration interval) {
  std::vector<RuleSection> sections;
  for (const RuleStateRow& state : states) {
    if (SumsUp(state.config.rule)) continue;
    sections.push_back(
        SectionOf(state, transitions, std::move(findings[state.config.rule_config_id]), interval));
  }
  std::ranges::stable_sort(sections, [](const RuleSection& a, const RuleSection& b) {
    if (PlaceOf(a) != PlaceOf(b)) return PlaceOf(a) < PlaceOf(b);
    return a.triggers > b.triggers;
  });
  return sections;
}

}  // namespace stepscope

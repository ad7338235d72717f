#include "server/api/new_job.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/model/names.h"
#include "rules/catalog.h"
#include "server/store/intervals.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostRules = 64;
constexpr std::size_t kMostTags = 50;

NewJob::Rule ReadRule(Body& body, const Json& given, const std::string& pointer) {
  NewJob::Rule rule;
  if (!given.is_object()) {
    body.Note(pointer, "an object is wanted");
    return rule;
  }
  body.AllowOnly(given, pointer, {"name", "rule", "parameters"});
  rule.rule = body.Text(given, pointer, "rule", 63);
  rule.name = given.contains("name") ? body.Text(given, pointer, "name", 63) : rule.rule;
  const RuleType* type = FindRule(rule.rule);
  if (!type) {
    body.Note(pointer + "/rule", Format("there is no rule '{}'", Printable(rule.rule, 64)));
    return rule;
  }
  if (const Status good = CheckLabel("name", rule.name); !good) {
    body.Note(pointer + "/name", good.error().message);
  }
  Result<Json> complete = CompleteParameters(*type, body.Object(given, pointer, "parameters"));
  if (!complete) body.Note(pointer + "/parameters", complete.error().message);
  if (complete) rule.parameters = std::move(*complete);
  return rule;
}

std::vector<NewJob::Rule> ReadRules(Body& body, const Json& configuration) {
  const std::string pointer = "/configuration/rules";
  const Json list = body.Array(configuration, "/configuration", "rules", kMostRules);
  std::vector<NewJob::Rule> rules;
  for (std::size_t at = 0; at < list.size(); ++at) {
    const std::string place = Format("{}/{}", pointer, at);
    NewJob::Rule rule = ReadRule(body, list[at], place);
    if (std::ranges::count(rules, rule.name, &NewJob::Rule::name) > 0) {
      body.Note(place, Format("'{}' stands twice; give one of them another name",
                              Printable(rule.name, 64)));
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

Json ReadTags(Body& body, const Json& configuration) {
  const std::string pointer = "/configuration/tags";
  const Json tags = body.Object(configuration, "/configuration", "tags");
  if (tags.size() > kMostTags) body.Note(pointer, Format("at most {} tags are taken", kMostTags));
  for (const auto& [key, value] : tags.items()) {
    if (const Status good = CheckLabel("tag", key); !good) body.Note(pointer, good.error().message);
    if (!value.is_string() || value.get_ref<const std::string&>().size() > 255) {
      body.Note(pointer, Format("{}: text of at most 255 bytes is wanted", Printable(key, 64)));
    }
  }
  return tags;
}

Json ToJson(const std::vector<NewJob::Rule>& rules) {
  Json list = Json::array();
  for (const NewJob::Rule& rule : rules) {
    list.push_back({{"name", rule.name}, {"rule", rule.rule}, {"parameters", rule.parameters}});
  }
  return list;
}

}  // namespace

NewJob ReadNewJob(Body& body) {
  NewJob job;
  body.AllowOnly(body.root(), "", {"name", "group", "configuration"});
  job.name = body.Text(body.root(), "", "name", 1'000);
  if (const Status good = CheckJobName(job.name); !good) body.Note("/name", good.error().message);
  job.group = body.Text(body.root(), "", "group", 63);
  const Json configuration = body.Object(body.root(), "", "configuration");
  body.AllowOnly(configuration, "/configuration", {"interval_ms", "tags", "rules"});
  job.configuration["interval_ms"] =
      body.Integer(configuration, "/configuration", "interval_ms", kLeastIntervalMs,
                   kMostIntervalMs, kDefaultIntervalMs);
  const Json tags = ReadTags(body, configuration);
  if (!tags.empty()) job.configuration["tags"] = tags;
  job.rules = configuration.contains("rules") ? ReadRules(body, configuration) : DefaultRules();
  if (configuration.contains("rules")) job.configuration["rules"] = ToJson(job.rules);
  return job;
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

}  // namespace stepscope

#include "server/api/jobs/new_job.h"

#include "core/base/text.h"
#include "core/model/names.h"
#include "server/api/jobs/kept_days.h"
#include "server/api/rules/given_rules.h"
#include "server/store/jobs/interval_requests.h"
#include "server/store/rules/create_job.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostTags = 50;

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

}  // namespace

NewJob ReadNewJob(Body& body, const std::vector<NewJob::Rule>& default_rules) {
  NewJob job;
  body.AllowOnly(body.root(), "", {"name", "group", "configuration"});
  job.name = body.Text(body.root(), "", "name", 1'000);
  if (const Status good = CheckJobName(job.name); !good) body.Note("/name", good.error().message);
  job.group = body.Text(body.root(), "", "group", 63);
  const Json configuration = body.Object(body.root(), "", "configuration");
  body.AllowOnly(configuration, "/configuration", {"interval_ms", kKeptDays, "tags", "rules"});
  job.configuration = Json::object();
  const std::int64_t interval_ms = body.Integer(configuration, "/configuration", "interval_ms",
                                                kLeastIntervalMs, kMostIntervalMs, 0);
  if (interval_ms > 0) job.configuration["interval_ms"] = interval_ms;
  const auto keep_days = ReadKeptDays(body, configuration);
  if (keep_days) job.configuration[kKeptDays] = *keep_days;
  const Json tags = ReadTags(body, configuration);
  if (!tags.empty()) job.configuration["tags"] = tags;
  job.rules = configuration.contains("rules") ? ReadRules(body, configuration, default_rules)
                                              : default_rules;
  if (configuration.contains("rules")) job.configuration["rules"] = ToJson(job.rules);
  return job;
}

}  // namespace stepscope

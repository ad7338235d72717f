#include "agent/top/jobs_text.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostJobs = 128;

Json ToJson(const LiveRank& rank) {
  Json phases = Json::object();
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    if (rank.phases[i] > 0ns)
      phases[std::string(ToText(static_cast<Phase>(i)))] = rank.phases[i].count();
  }
  return {{"rank", rank.rank},
          {"pid", rank.pid},
          {"step", rank.step},
          {"at_us", ToMicros(rank.at)},
          {"wall_ns", rank.wall.count()},
          {"phases", phases}};
}

// The member as a number; 0 when it is missing, not whole or out of range.
std::int64_t Number(const Json& json, const char* key) {
  const auto found = json.find(key);
  const bool whole = found != json.end() && found->is_number_integer();
  return whole ? std::max(found->get<std::int64_t>(), std::int64_t{-1}) : 0;
}

LiveRank ToRank(const Json& json) {
  LiveRank rank{.rank = static_cast<std::int32_t>(std::min(Number(json, "rank"), INT64_C(1) << 30)),
                .pid = Number(json, "pid"),
                .step = Number(json, "step"),
                .at = FromMicros(std::min(Number(json, "at_us"), INT64_C(4'102'444'800'000'000))),
                .wall = Duration(Number(json, "wall_ns"))};
  const auto phases = json.find("phases");
  if (phases == json.end() || !phases->is_object()) return rank;
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const std::string name(ToText(static_cast<Phase>(i)));
    rank.phases[i] = Duration(Number(*phases, name.c_str()));
  }
  return rank;
}

Result<TopJob> ToJob(const Json& json) {
  const auto name = json.is_object() ? json.find("job") : json.end();
  const auto ranks = json.is_object() ? json.find("ranks") : json.end();
  if (name == json.end() || !name->is_string() || ranks == json.end() || !ranks->is_array())
    return Invalid("jobs: not a job");
  TopJob job{.job = name->get<std::string>().substr(0, 63),
             .ranks = {},
             .more_ranks = Number(json, "more_ranks")};
  for (const Json& rank : *ranks) {
    if (!rank.is_object()) return Invalid("jobs: not a rank");
    if (job.ranks.size() < kMostTopRanks) job.ranks.push_back(ToRank(rank));
  }
  return job;
}

}  // namespace

std::string JobsText(std::vector<TopJob> jobs) {
  std::size_t room = kMostTopRanks;
  Json list = Json::array();
  for (TopJob& job : jobs) {
    const std::size_t kept = std::min(job.ranks.size(), room);
    room -= kept;
    Json ranks = Json::array();
    for (std::size_t i = 0; i < kept; ++i) ranks.push_back(ToJson(job.ranks[i]));
    list.push_back({{"job", job.job}, {"ranks", ranks}, {"more_ranks", job.ranks.size() - kept}});
  }
  return Dump(Json{{"version", 1}, {"jobs", list}}) + "\n";
}

Result<std::vector<TopJob>> ParseJobs(std::string_view text) {
  const auto json = ParseJson(text);
  if (!json) return json.error();
  if (!json->is_object() || json->value("version", Json()) != 1) {
    return Invalid("jobs: not of version 1");
  }
  const auto list = json->find("jobs");
  if (list == json->end() || !list->is_array()) return Invalid("jobs: not a list");
  std::vector<TopJob> jobs;
  for (const Json& one : *list) {
    auto job = ToJob(one);
    if (!job) return job.error();
    if (jobs.size() < kMostJobs) jobs.push_back(std::move(*job));
  }
  return jobs;
}

}  // namespace stepscope

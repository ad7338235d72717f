#include "server/evaluate/presence.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/store/intervals.h"

namespace stepscope {
namespace {

// A clock that is further off would hold up everyone, for ever.
constexpr std::int64_t kWrongClockUs = 60'000'000;
constexpr std::size_t kMostNamed = 5;

std::string AbsenceOf(const NodeRow& node, Time now, Duration silence) {
  if (now - FromMicros(node.last_seen_us) > silence) {
    return "silent since " + ToRfc3339(FromMicros(node.last_seen_us));
  }
  if (node.clock_offset_us > kWrongClockUs || node.clock_offset_us < -kWrongClockUs) {
    return Format("its clock is off by {} s", node.clock_offset_us / 1'000'000);
  }
  return "";
}

Time Bounded(std::int64_t at_us) {
  return FromMicros(std::clamp<std::int64_t>(at_us, 0, ToMicros(kLatestTime)));
}

// Facts come from agents: what is not a number there is not known.
int CoresOf(const Json& facts) {
  const auto cores = facts.find("cores");
  const bool known = cores != facts.end() && cores->is_number_integer();
  return known ? static_cast<int>(std::clamp<std::int64_t>(cores->get<std::int64_t>(), 0, 100'000))
               : 0;
}

}  // namespace

std::vector<NodePresence> PresenceOf(const std::vector<NodeRow>& nodes,
                                     const std::vector<TickRange>& ranges, Time now,
                                     Duration silence) {
  std::vector<NodePresence> all;
  for (const NodeRow& node : nodes) {
    NodePresence presence{node.node_id, node.name, {}, {}, node.ended_us.has_value(), ""};
    if (!presence.ended) presence.absent = AbsenceOf(node, now, silence);
    const auto range = std::ranges::find(ranges, node.node_id, &TickRange::node_id);
    if (range != ranges.end()) {
      presence.first = Bounded(range->from_us);
      presence.last = Bounded(range->to_us);
    }
    all.push_back(std::move(presence));
  }
  return all;
}

std::optional<Time> HorizonOf(const std::vector<NodePresence>& nodes, bool job_ended) {
  std::optional<Time> slowest, newest;
  for (const NodePresence& node : nodes) {
    if (!node.last) continue;  // it starts now, behind everything that others have
    newest = std::max(newest.value_or(*node.last), *node.last);
    if (job_ended || node.ended || !node.absent.empty()) continue;
    slowest = std::min(slowest.value_or(*node.last), *node.last);
  }
  return slowest ? slowest : newest;
}

std::string AbsenceText(const std::vector<NodePresence>& nodes) {
  std::string text;
  std::size_t named = 0, absent = 0;
  for (const NodePresence& node : nodes) {
    if (node.absent.empty() || ++absent > kMostNamed) continue;
    text += Format("{}Node {} is left out: {}.", text.empty() ? "" : " ", node.name, node.absent);
    ++named;
  }
  if (absent > named) text += Format(" So are {} more.", absent - named);
  return text;
}

JobFacts FactsOf(const JobRow& job, const std::vector<NodeRow>& nodes,
                 const std::vector<RankRow>& ranks) {
  JobFacts facts;
  facts.interval = std::chrono::milliseconds(IntervalMs(job.configuration));
  for (const NodeRow& node : nodes) {
    const auto gpus = node.facts.find("gpus");
    const bool listed = gpus != node.facts.end() && gpus->is_array();
    facts.nodes.push_back({node.name, CoresOf(node.facts), listed ? gpus->size() : 0});
  }
  facts.ranks = ranks.size();
  for (const RankRow& rank : ranks) {
    const Time seen = Bounded(rank.first_seen_us);
    facts.first_rank = std::min(facts.first_rank.value_or(seen), seen);
  }
  return facts;
}

}  // namespace stepscope

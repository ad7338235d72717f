#include "server/trace/compare/aligned_ranks.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "core/base/json_members.h"
#include "server/trace/trace_json.h"

namespace stepscope {
namespace {

constexpr std::size_t kLeastShared = 3;
// The ends of a collective agree to a few microseconds, so no rank is last by less.
constexpr std::int64_t kClockNs = 10'000;

using EventKey = std::tuple<std::string_view, std::string_view, std::int64_t, std::int64_t>;
using EventsByKey = std::map<EventKey, const CollectiveEvent*>;

EventsByKey ByKey(const std::vector<CollectiveEvent>& events) {
  EventsByKey by_key;
  for (const CollectiveEvent& event : events) {
    by_key.emplace(EventKey{event.name, event.group, event.step, event.occurrence}, &event);
  }
  return by_key;
}

std::int64_t MedianOf(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

AlignedRank Align(int rank, const EventsByKey& first, const EventsByKey& own) {
  AlignedRank aligned{.rank = rank};
  std::vector<std::int64_t> differences;
  for (const auto& [key, event] : own) {
    const auto other = first.find(key);
    if (other != first.end()) differences.push_back(event->end_ns - other->second->end_ns);
  }
  aligned.shared = differences.size();
  if (differences.empty()) return aligned;
  aligned.offset_ns = MedianOf(differences);
  for (std::int64_t& each : differences) each = std::abs(each - aligned.offset_ns);
  aligned.residual_ns = MedianOf(differences);
  return aligned;
}

// One collective of several ranks.
struct Meeting {
  const CollectiveEvent* any = nullptr;
  std::vector<std::pair<std::size_t, const CollectiveEvent*>> events;  // by the place of the rank
};

// How far apart two ranks have to come for one to be the later.
std::int64_t Doubt(const AlignedRank& one, const AlignedRank& other) {
  return std::max(kClockNs, one.residual_ns + other.residual_ns);
}

AlignedCollective Judge(const Meeting& meeting, std::vector<AlignedRank>& ranks) {
  AlignedCollective collective{.name = meeting.any->name,
                               .group = meeting.any->group,
                               .step = meeting.any->step,
                               .occurrence = meeting.any->occurrence};
  std::vector<std::pair<std::int64_t, std::size_t>> arrivals;
  collective.wire_ns = INT64_MAX;
  for (const auto& [i, event] : meeting.events) {
    arrivals.emplace_back(event->start_ns - ranks[i].offset_ns, i);
    collective.wire_ns = std::min(collective.wire_ns, event->end_ns - event->start_ns);
  }
  std::ranges::sort(arrivals);
  collective.start_ns = arrivals.front().first;
  collective.arrivals_ns.assign(ranks.size(), -1);
  const auto [last_ns, last] = arrivals.back();
  for (const auto& [at_ns, i] : arrivals) {
    collective.arrivals_ns[i] = at_ns - collective.start_ns;
    ranks[i].waited_ns += last_ns - at_ns;
  }
  const auto [before_ns, before] = arrivals[arrivals.size() - 2];
  if (last_ns - before_ns < Doubt(ranks[last], ranks[before])) return collective;
  collective.last_rank = ranks[last].rank;
  collective.late_ns = last_ns - before_ns;
  ++ranks[last].last;
  ranks[last].late_ns += collective.late_ns;
  return collective;
}

}  // namespace

AlignedRanks AlignRanks(const std::vector<RankEvents>& ranks) {
  AlignedRanks aligned;
  if (ranks.empty()) return aligned;
  const EventsByKey first = ByKey(ranks.front().events);
  std::map<EventKey, Meeting> meetings;
  std::vector<EventsByKey> kept;
  for (const RankEvents& each : ranks) {
    EventsByKey own = ByKey(each.events);
    const AlignedRank rank = Align(each.rank, first, own);
    if (rank.shared < kLeastShared) continue;
    aligned.ranks.push_back(rank);
    kept.push_back(std::move(own));
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (const auto& [key, event] : kept[i]) {
      Meeting& meeting = meetings[key];
      meeting.any = event;
      meeting.events.emplace_back(i, event);
    }
  }
  for (const auto& [key, meeting] : meetings) {
    if (meeting.events.size() >= 2) aligned.collectives.push_back(Judge(meeting, aligned.ranks));
  }
  std::ranges::stable_sort(aligned.collectives, {}, &AlignedCollective::start_ns);
  return aligned;
}

OrderedJson ToJson(const AlignedRanks& aligned, std::size_t most) {
  OrderedJson ranks = OrderedJson::array(), rows = OrderedJson::array();
  for (const AlignedRank& rank : aligned.ranks) {
    ranks.push_back({{"rank", rank.rank},
                     {"offset_seconds", SecondsOf(rank.offset_ns)},
                     {"residual_seconds", SecondsOf(rank.residual_ns)},
                     {"shared", rank.shared},
                     {"last", rank.last},
                     {"late_seconds", SecondsOf(rank.late_ns)},
                     {"waited_seconds", SecondsOf(rank.waited_ns)}});
  }
  std::vector<const AlignedCollective*> latest;
  for (const AlignedCollective& each : aligned.collectives) latest.push_back(&each);
  std::ranges::stable_sort(latest, std::ranges::greater(), &AlignedCollective::late_ns);
  latest.resize(std::min(latest.size(), most));
  for (const AlignedCollective* const one : latest) {
    const AlignedCollective& each = *one;
    OrderedJson arrivals = OrderedJson::array();
    for (const std::int64_t ns : each.arrivals_ns) {
      arrivals.push_back(ns < 0 ? OrderedJson() : OrderedJson(SecondsOf(ns)));
    }
    rows.push_back({{"name", each.name},
                    {"group", NullIfEmpty(each.group)},
                    {"step", each.step < 0 ? OrderedJson() : OrderedJson(each.step)},
                    {"occurrence", each.occurrence},
                    {"wire_seconds", SecondsOf(each.wire_ns)},
                    {"last_rank", each.last_rank < 0 ? OrderedJson() : OrderedJson(each.last_rank)},
                    {"late_seconds", SecondsOf(each.late_ns)},
                    {"arrival_seconds", std::move(arrivals)}});
  }
  return {{"ranks", std::move(ranks)},
          {"total", aligned.collectives.size()},
          {"collectives", std::move(rows)}};
}

}  // namespace stepscope

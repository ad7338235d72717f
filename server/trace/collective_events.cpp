#include "server/trace/collective_events.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "server/trace/communication.h"

namespace stepscope {
namespace {

constexpr std::string_view kOtherName = "(another name)";
constexpr std::size_t kMembers = 6;  // a row has name, group, occurrence, step, start, end

std::int64_t NumberIn(const Json& row, std::size_t place) {
  return row[place].is_number_integer() ? row[place].get<std::int64_t>() : -1;
}

// At most so many bytes, without half a character at the end.
std::string_view Cut(std::string_view name) {
  if (name.size() <= kLongestCollective) return name;
  std::size_t end = kLongestCollective;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end);
}

// The names that fit into the sum.
class KeptNames {
 public:
  std::string_view Keep(std::string_view name) {
    const std::string_view cut = Cut(name);
    if (kept_.contains(cut)) return cut;
    if (bytes_ + cut.size() > kMostCollectiveNames) return kOtherName;
    bytes_ += cut.size();
    kept_.insert(cut);
    return cut;
  }

 private:
  std::set<std::string_view> kept_;
  std::size_t bytes_ = 0;
};

// A name in a row: the place of it in the list, or itself.
std::string_view NameIn(const Json& row, std::size_t place, const Json& list,
                        CollectiveNames& names) {
  const Json* said = &row[place];
  if (said->is_number_unsigned() && list.is_array()) {
    const auto number = said->get<std::size_t>();
    if (number < list.size()) said = &list[number];
  }
  if (!said->is_string()) return {};
  const std::string_view name = Cut(said->get_ref<const std::string&>());
  const auto known = names.find(name);
  return known == names.end() ? *names.emplace(name).first : *known;
}

}  // namespace

std::vector<CollectiveEvent> MakeCollectiveEvents(const TraceLinks& links) {
  const Trace& trace = links.trace();
  std::vector<CollectiveEvent> events;
  KeptNames names;
  for (const TraceSpan& span : trace.spans) {
    if (!IsCollective(trace, span) || span.duration_ns <= 0) continue;
    CollectiveEvent event{names.Keep(CollectiveName(trace, span)),
                          names.Keep(GroupName(trace, span))};
    if (span.step != kNoStep) {
      event.step = trace.steps[static_cast<std::size_t>(span.step)].number;
    }
    event.start_ns = trace.base_ns + span.start_ns;
    event.end_ns = trace.base_ns + span.end_ns();
    events.push_back(std::move(event));
  }
  std::ranges::stable_sort(events, {}, &CollectiveEvent::start_ns);
  if (events.size() > kMostCollectiveEvents) events.resize(kMostCollectiveEvents);
  std::map<std::tuple<std::string_view, std::string_view, std::int64_t>, std::int64_t> seen;
  for (CollectiveEvent& event : events) {
    event.occurrence = seen[{event.name, event.group, event.step}]++;
  }
  return events;
}

OrderedJson ToJson(const std::vector<CollectiveEvent>& events) {
  std::map<std::string_view, std::size_t> places;
  OrderedJson names = OrderedJson::array(), rows = OrderedJson::array();
  const auto place_of = [&](std::string_view name) {
    const auto [place, is_new] = places.try_emplace(name, names.size());
    if (is_new) names.push_back(name);
    return place->second;
  };
  for (const CollectiveEvent& event : events) {
    const std::size_t name = place_of(event.name), group = place_of(event.group);
    rows.push_back(OrderedJson::array(
        {name, group, event.occurrence, event.step, event.start_ns, event.end_ns}));
  }
  return {{"names", std::move(names)}, {"events", std::move(rows)}};
}

Result<std::vector<CollectiveEvent>> ReadCollectiveEvents(std::string_view text, std::size_t most,
                                                          CollectiveNames& names) {
  // Not ParseJson, which takes no integers above 2^53, as nanoseconds since the epoch are.
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("events") || !json["events"].is_array()) {
    return Invalid("the list of collectives is none");
  }
  const Json list = json.value("names", Json());
  std::vector<CollectiveEvent> events;
  for (const Json& row : json["events"]) {
    if (events.size() == most) break;
    if (!row.is_array() || row.size() != kMembers) continue;
    events.push_back({NameIn(row, 0, list, names), NameIn(row, 1, list, names), NumberIn(row, 2),
                      NumberIn(row, 3), NumberIn(row, 4), NumberIn(row, 5)});
  }
  return events;
}

}  // namespace stepscope

#include "server/trace/collective_events.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "server/trace/communication.h"

namespace stepscope {
namespace {

std::string TextIn(const Json& row, std::size_t place) {
  return row[place].is_string() ? row[place].get<std::string>() : std::string();
}

std::int64_t NumberIn(const Json& row, std::size_t place) {
  return row[place].is_number_integer() ? row[place].get<std::int64_t>() : -1;
}

constexpr std::size_t kMembers = 6;  // a row has name, group, occurrence, step, start, end

}  // namespace

std::vector<CollectiveEvent> MakeCollectiveEvents(const TraceLinks& links) {
  const Trace& trace = links.trace();
  std::vector<CollectiveEvent> events;
  for (const TraceSpan& span : trace.spans) {
    if (!IsCollective(trace, span) || span.duration_ns <= 0) continue;
    CollectiveEvent event{CollectiveName(trace, span), GroupName(trace, span)};
    if (span.step != kNoStep) {
      event.step = trace.steps[static_cast<std::size_t>(span.step)].number;
    }
    event.start_ns = trace.base_ns + span.start_ns;
    event.end_ns = trace.base_ns + span.end_ns();
    events.push_back(std::move(event));
  }
  std::ranges::stable_sort(events, {}, &CollectiveEvent::start_ns);
  if (events.size() > kMostCollectiveEvents) events.resize(kMostCollectiveEvents);
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::int64_t> seen;
  for (CollectiveEvent& event : events) {
    event.occurrence = seen[{event.name, event.group, event.step}]++;
  }
  return events;
}

OrderedJson ToJson(const std::vector<CollectiveEvent>& events) {
  OrderedJson rows = OrderedJson::array();
  for (const CollectiveEvent& event : events) {
    rows.push_back(OrderedJson::array(
        {event.name, event.group, event.occurrence, event.step, event.start_ns, event.end_ns}));
  }
  return {{"events", std::move(rows)}};
}

Result<std::vector<CollectiveEvent>> ReadCollectiveEvents(std::string_view text) {
  // Not ParseJson, which takes no integers above 2^53, as nanoseconds since the epoch are.
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("events") || !json["events"].is_array()) {
    return Invalid("the list of collectives is none");
  }
  std::vector<CollectiveEvent> events;
  for (const Json& row : json["events"]) {
    if (!row.is_array() || row.size() != kMembers) continue;
    events.push_back({TextIn(row, 0), TextIn(row, 1), NumberIn(row, 2), NumberIn(row, 3),
                      NumberIn(row, 4), NumberIn(row, 5)});
  }
  return events;
}

}  // namespace stepscope

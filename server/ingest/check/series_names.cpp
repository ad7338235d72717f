#include "server/ingest/check/series_names.h"

#include <functional>

namespace stepscope {

SeriesNames::Names SeriesNames::NamesIn(const CheckedPush& push) {
  Names names, seen;  // frames of one push mostly share a schema
  for (const CheckedFrame& frame : push.frames) {
    const auto* table = std::get_if<TableFrame>(&frame.content);
    if (!table || !table->schema || !seen.insert(table->schema_hash).second) continue;
    const Result<Schema> schema = DecodeSchema(*table->schema);
    if (!schema) continue;
    for (const auto& column : schema->columns) {
      names.insert(std::hash<std::string>()(column.metric + '\0' + column.device));
    }
  }
  return names;
}

bool SeriesNames::Take(const CheckedPush& push, SteadyTime now) {
  if (push.sender.empty()) return true;
  const Names names = NamesIn(push);
  if (names.empty()) return true;
  return days_.Change([&](auto& days) {
    if (!days.contains(push.sender) && days.size() >= kMostSenders) days.clear();
    Day& day = days.try_emplace(push.sender, Day{now, {}}).first->second;
    if (now - day.since >= kDay) day = {now, {}};
    std::size_t fresh = 0;
    for (const std::uint64_t name : names) fresh += day.names.contains(name) ? 0 : 1;
    if (day.names.size() + fresh > most_) return false;
    day.names.insert(names.begin(), names.end());
    return true;
  });
}

}  // namespace stepscope

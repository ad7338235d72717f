#include "server/ingest/store_parts.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "core/base/log.h"
#include "core/base/text.h"
#include "server/ingest/replies.h"
#include "server/store/postgres/sqlstate.h"

namespace stepscope {
namespace {

// Enough for whoever only commits; a whole group waited longer already.
constexpr Duration kSecondWait = 200ms;

std::size_t FramesOf(const std::vector<GroupPart>& parts) {
  std::size_t frames = 0;
  for (const GroupPart& part : parts) frames += part.item.to - part.item.from;
  return frames;
}

std::vector<GroupItem> ItemsOf(const std::vector<GroupPart>& parts) {
  std::vector<GroupItem> items;
  for (const GroupPart& part : parts) items.push_back(part.item);
  return items;
}

Status StoreWhole(const StoreTools& tools, const std::vector<GroupPart>& parts) {
  const auto outcomes = StoreGroup(tools.connection, ItemsOf(parts), tools.options, tools.bound,
                                   ToMicros(tools.clock.Now()));
  if (!outcomes) return outcomes.error();
  for (std::size_t i = 0; i < parts.size(); ++i) Add(*parts[i].outcome, (*outcomes)[i]);
  return {};
}

// The first half of the frames, and the second; a push may be cut in two.
std::array<std::vector<GroupPart>, 2> Halve(const std::vector<GroupPart>& parts) {
  std::array<std::vector<GroupPart>, 2> halves;
  std::size_t room = FramesOf(parts) / 2;
  for (const auto& [item, outcome] : parts) {
    const std::size_t middle = item.from + std::min(room, item.to - item.from);
    if (middle > item.from) halves[0].push_back({{item.push, item.from, middle}, outcome});
    if (item.to > middle) halves[1].push_back({{item.push, middle, item.to}, outcome});
    room -= middle - item.from;
  }
  return halves;
}

std::vector<std::vector<GroupPart>> ByJob(const std::vector<GroupPart>& parts) {
  std::map<std::string_view, std::vector<GroupPart>> by_job;
  for (const GroupPart& part : parts) by_job[part.item.push->job].push_back(part);
  std::vector<std::vector<GroupPart>> jobs;
  for (auto& [job, own] : by_job) jobs.push_back(std::move(own));
  return jobs;
}

// Stores parts beside others, which go on when rows of these are held.
Status StoreBeside(const StoreTools& tools, const std::vector<GroupPart>& parts,
                   std::uint64_t& duplicate_rows) {
  const Status stored = StoreParts(tools, parts, duplicate_rows);
  if (stored || !IsLockTimeout(stored.error())) return stored;
  for (const GroupPart& part : parts) part.outcome->not_stored = stored.error();
  return {};
}

// The jobs of a group of which another transaction holds some, one by one.
Status StoreJobs(const StoreTools& tools, const std::vector<std::vector<GroupPart>>& jobs,
                 std::uint64_t& duplicate_rows) {
  IngestOptions hasty = tools.options;
  hasty.lock_wait = kSecondWait;
  for (const std::vector<GroupPart>& job : jobs) {
    const StoreTools alone{tools.connection, hasty, tools.clock, tools.bound};
    if (Status stored = StoreBeside(alone, job, duplicate_rows); !stored) return stored;
  }
  return {};
}

Status StoreCulprit(const StoreTools& tools, const GroupPart& part, const Error& error,
                    std::uint64_t& duplicate_rows) {
  CheckedFrame& frame = part.item.push->frames[part.item.from];
  if (std::holds_alternative<RejectedFrame>(frame.content)) return error;
  if (error.code == Code::kConflict) ++duplicate_rows;
  LogWarning("ingest: {} {} frame {} refused: {}", part.item.push->job,
             Printable(part.item.push->node), frame.sequence, error.message);
  frame.last = frame.sequence;
  frame.content = RejectedFrame{frame.sequence, "refused", error.message};
  return StoreWhole(tools, {part});
}

}  // namespace

Result<bool> StorePartsThere(const StoreTools& tools, const std::vector<GroupPart>& parts) {
  const auto outcomes = StoreGroupThere(tools.connection, ItemsOf(parts), tools.options,
                                        tools.bound, ToMicros(tools.clock.Now()));
  if (!outcomes) return outcomes.error();
  if (!*outcomes) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) Add(*parts[i].outcome, (**outcomes)[i]);
  return true;
}

Status StoreParts(const StoreTools& tools, const std::vector<GroupPart>& parts,
                  std::uint64_t& duplicate_rows) {
  const Status stored = StoreWhole(tools, parts);
  if (stored) return {};
  if (IsLockTimeout(stored.error())) {
    const auto jobs = ByJob(parts);
    return jobs.size() == 1 ? stored : StoreJobs(tools, jobs, duplicate_rows);
  }
  const Code code = stored.error().code;
  if (code != Code::kInvalid && code != Code::kConflict) return stored;
  if (FramesOf(parts) == 1) return StoreCulprit(tools, parts[0], stored.error(), duplicate_rows);
  for (const std::vector<GroupPart>& half : Halve(parts)) {
    if (Status whole = StoreBeside(tools, half, duplicate_rows); !whole) return whole;
  }
  return {};
}

}  // namespace stepscope

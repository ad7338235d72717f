#include "server/store/steps/step_groups.h"

#include <algorithm>
#include <map>

#include "server/store/steps/step_blocks.h"

namespace stepscope {
namespace {

// The blocks and frames to read, and the group of each.
struct Wanted {
  std::vector<std::int64_t> blocks;
  std::map<std::int64_t, std::size_t> group_of_block;
  std::vector<FrameKey> frames;
  std::vector<std::size_t> group_of_frame;
};

Wanted WantedOf(std::span<const StepGroup> groups) {
  Wanted wanted;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].summary.empty()) continue;
    for (const StepSource& source : groups[i].sources) {
      if (source.frame) {
        wanted.frames.push_back(*source.frame);
        wanted.group_of_frame.push_back(i);
        continue;
      }
      wanted.blocks.push_back(source.step_block_id);
      wanted.group_of_block[source.step_block_id] = i;
    }
  }
  return wanted;
}

}  // namespace

std::vector<StepGroup> GroupSources(std::vector<StepSource> sources, std::int64_t most_read) {
  std::ranges::stable_sort(sources, {}, &StepSource::from_us);
  std::vector<StepGroup> groups;
  std::int64_t steps = 0;
  for (const StepSource& source : sources) {
    if (groups.empty() || source.from_us > groups.back().to_us) {
      groups.push_back({source.from_us, source.to_us, 0, {}, {}});
    }
    StepGroup& group = groups.back();
    group.to_us = std::max(group.to_us, source.to_us);
    group.rows_to_read += source.rows;
    group.sources.push_back(source);
    steps += source.rows;
  }
  if (steps <= most_read) return groups;
  for (StepGroup& group : groups) {
    if (group.sources.size() > 1 || group.sources.front().summary.empty()) continue;
    group.summary = group.sources.front().summary;
    group.rows_to_read = 0;
  }
  return groups;
}

Result<std::vector<std::vector<Step>>> LoadGroups(Connection& connection, std::int64_t job_id,
                                                  std::span<const StepGroup> groups) {
  const Wanted wanted = WantedOf(groups);
  std::vector<std::vector<Step>> steps(groups.size());
  const auto add = [&](std::size_t group, const std::vector<Step>& some) {
    steps[group].insert(steps[group].end(), some.begin(), some.end());
  };
  const Status blocks = ForEachStepBlock(connection, job_id, wanted.blocks,
                                         [&](std::int64_t id, const std::vector<Step>& some) {
                                           add(wanted.group_of_block.at(id), some);
                                         });
  if (!blocks) return blocks.error();
  const std::vector<FrameKey>& keys = wanted.frames;
  const Result<Schemas> schemas = LoadSchemas(connection, job_id, keys, keys.size());
  if (!schemas) return schemas.error();
  std::size_t at = 0;
  const auto take = [&](const Schema* schema, const std::string& payload) -> Status {
    const std::size_t group = wanted.group_of_frame[at++];
    if (!schema || payload.empty()) return {};
    const Result<std::vector<Step>> some = DecodeSteps(payload, *schema);
    if (!some) return some.error();
    add(group, *some);
    return {};
  };
  const Status frames = ForEachFrame(connection, job_id, keys, keys.size(), *schemas, take);
  if (!frames) return frames.error();
  for (std::vector<Step>& some : steps) SortSteps(some);
  return steps;
}

}  // namespace stepscope

#include "server/store/steps/step_stretches.h"

#include <algorithm>
#include <map>

#include "server/store/steps/step_blocks.h"

namespace stepscope {
namespace {

// What is to be read, and for which stretch.
struct Wanted {
  std::vector<std::int64_t> blocks;
  std::map<std::int64_t, std::size_t> stretch_of_block;
  std::vector<FrameKey> frames;
  std::vector<std::size_t> stretch_of_frame;
};

Wanted WantedOf(std::span<const StepStretch> stretches) {
  Wanted wanted;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    if (!stretches[i].summary.empty()) continue;
    for (const StepSource& source : stretches[i].sources) {
      if (source.frame) {
        wanted.frames.push_back(*source.frame);
        wanted.stretch_of_frame.push_back(i);
        continue;
      }
      wanted.blocks.push_back(source.step_block_id);
      wanted.stretch_of_block[source.step_block_id] = i;
    }
  }
  return wanted;
}

}  // namespace

std::vector<StepStretch> StretchesOf(std::vector<StepSource> sources, std::int64_t most_read) {
  std::ranges::stable_sort(sources, {}, &StepSource::from_us);
  std::vector<StepStretch> stretches;
  std::int64_t steps = 0;
  for (const StepSource& source : sources) {
    if (stretches.empty() || source.from_us > stretches.back().to_us) {
      stretches.push_back({source.from_us, source.to_us, 0, {}, {}});
    }
    StepStretch& stretch = stretches.back();
    stretch.to_us = std::max(stretch.to_us, source.to_us);
    stretch.rows_to_read += source.rows;
    stretch.sources.push_back(source);
    steps += source.rows;
  }
  if (steps <= most_read) return stretches;
  for (StepStretch& stretch : stretches) {
    if (stretch.sources.size() > 1 || stretch.sources.front().summary.empty()) continue;
    stretch.summary = stretch.sources.front().summary;
    stretch.rows_to_read = 0;
  }
  return stretches;
}

Result<std::vector<std::vector<Step>>> LoadStretches(Connection& connection, std::int64_t job_id,
                                                     std::span<const StepStretch> stretches) {
  const Wanted wanted = WantedOf(stretches);
  std::vector<std::vector<Step>> steps(stretches.size());
  const auto add = [&](std::size_t stretch, const std::vector<Step>& some) {
    steps[stretch].insert(steps[stretch].end(), some.begin(), some.end());
  };
  const Status blocks = ForEachStepBlock(connection, job_id, wanted.blocks,
                                         [&](std::int64_t id, const std::vector<Step>& some) {
                                           add(wanted.stretch_of_block.at(id), some);
                                         });
  if (!blocks) return blocks.error();
  const std::vector<FrameKey>& keys = wanted.frames;
  const Result<Schemas> schemas = LoadSchemas(connection, job_id, keys, keys.size());
  if (!schemas) return schemas.error();
  std::size_t at = 0;
  const auto take = [&](const Schema* schema, const std::string& payload) -> Status {
    const std::size_t stretch = wanted.stretch_of_frame[at++];
    if (!schema || payload.empty()) return {};
    const Result<std::vector<Step>> some = DecodeSteps(payload, *schema);
    if (!some) return some.error();
    add(stretch, *some);
    return {};
  };
  const Status frames = ForEachFrame(connection, job_id, keys, keys.size(), *schemas, take);
  if (!frames) return frames.error();
  for (std::vector<Step>& some : steps) SortSteps(some);
  return steps;
}

}  // namespace stepscope

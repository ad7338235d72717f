#include "server/store/steps/steps.h"

// Steps of a rank, put together from frames and blocks.

#include <algorithm>

#include "core/wire/table_codec.h"
#include "server/store/frames/stored_frames.h"
#include "server/store/steps/step_blocks.h"

namespace stepscope {
namespace {

// Calls take(schema, table) for each of the first `count` frames that are there.
template <typename Take>
Status ForEachTable(Connection& connection, std::int64_t job_id, const std::vector<FrameKey>& keys,
                    std::size_t count, Take&& take) {
  const Result<Schemas> schemas = LoadSchemas(connection, job_id, keys, count);
  if (!schemas) return schemas.error();
  const auto decode = [&](const Schema* schema, const std::string& payload) -> Status {
    if (!schema || payload.empty()) return {};
    const Result<Table> table = DecodeTable(payload);
    if (!table) return table.error();
    if (table->columns.size() != schema->columns.size()) {
      return Internal("frame: not as its schema says");
    }
    take(*schema, *table);
    return {};
  };
  return ForEachFrame(connection, job_id, keys, count, *schemas, decode);
}

void AddSteps(const Schema& schema, const Table& table, const StepQuery& query,
              std::int64_t before_us, std::vector<Step>& steps) {
  const std::vector<Step> all = StepsOf(schema, table);
  std::ranges::copy_if(all, std::back_inserter(steps), [&](const Step& step) {
    const std::int64_t start_us = ToMicros(step.start);
    return start_us > query.after_us && start_us <= query.until_us && start_us < before_us;
  });
}

// Keeps so many, but never cuts between two steps that start at one instant: the caller continues
// after it.
void CutSteps(std::vector<Step>& steps, std::size_t most) {
  if (steps.size() <= most) return;
  std::size_t end = most;
  while (end > 0 && steps[end - 1].start == steps[end].start) --end;
  if (end == 0) {
    end = most;
    while (end < steps.size() && steps[end].start == steps[0].start) ++end;
  }
  steps.resize(end);
}

// The steps are sorted, each once. Frames are read first, because steps that are compacted
// meanwhile are in frames and blocks.
Result<std::vector<Step>> ReadChosen(Connection& connection, const StepQuery& query,
                                     const std::vector<FrameKey>& keys, std::size_t budget,
                                     bool& all) {
  const FrameChoice choice = ChooseFrames(keys, budget, query.after_us);
  std::vector<Step> steps;
  const auto take = [&](const Schema& schema, const Table& table) {
    AddSteps(schema, table, query, choice.complete_before_us, steps);
  };
  const Status read = ForEachTable(connection, query.job_id, keys, choice.count, take);
  if (!read) return read.error();
  const auto blocks = LoadStepBlocks(connection, query, budget);
  if (!blocks) return blocks.error();
  const std::int64_t before_us = std::min(choice.complete_before_us, blocks->complete_before_us);
  for (const Step& step : blocks->steps) {
    const std::int64_t start_us = ToMicros(step.start);
    if (start_us > query.after_us && start_us <= query.until_us) steps.push_back(step);
  }
  std::erase_if(steps, [&](const Step& step) { return ToMicros(step.start) >= before_us; });
  SortSteps(steps);
  CutSteps(steps, query.most_rows);
  const bool stuck = keys.size() >= kMostFramesListed && choice.count == keys.size();
  if (steps.empty() && stuck) return TooManyFrames();
  all = choice.all && blocks->complete_before_us == INT64_MAX;
  return steps;
}

}  // namespace

Result<std::vector<Step>> ReadSteps(Connection& connection, const StepQuery& query) {
  FrameQuery wanted;
  wanted.job_id = query.job_id;
  wanted.kind = FrameKind::kSteps;
  wanted.ranks = {query.rank};
  wanted.after_us = query.after_us;
  wanted.until_us = query.until_us;
  // Where frames overlap, the complete part may be empty; then more of them are read.
  for (std::size_t budget = query.most_rows;; budget *= 2) {
    const Result<std::vector<FrameKey>> keys = ListFrames(connection, wanted);
    if (!keys) return keys.error();
    bool all = false;
    Result<std::vector<Step>> steps = ReadChosen(connection, query, *keys, budget, all);
    if (!steps || !steps->empty() || all) return steps;
  }
}

}  // namespace stepscope

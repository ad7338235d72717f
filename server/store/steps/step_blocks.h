#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/step.h"
#include "core/model/table.h"
#include "server/store/postgres/database.h"
#include "server/store/steps/steps.h"

namespace stepscope {

// A block has up to so many steps of one rank, in the order of their start. Blocks of a rank seldom
// overlap; readers sort.
inline constexpr std::size_t kStepsPerBlock = 4'096;

// The rows of a table of steps: step, start_us, wall_ns, then phases.
std::vector<Step> StepsOf(const Schema& schema, const Table& table);

Result<std::vector<Step>> DecodeSteps(std::string_view payload, const Schema& schema);

// Sorts by start and number, and keeps each once.
void SortSteps(std::vector<Step>& steps);

// The steps of the oldest blocks that a query needs, about `budget` of them, and the time before
// which they are complete.
struct StepBlocks {
  std::vector<Step> steps;
  std::int64_t complete_before_us = INT64_MAX;
};
Result<StepBlocks> LoadStepBlocks(Connection& connection, const StepQuery& query,
                                  std::size_t budget);

// Calls `take` with the steps of each of these blocks. Conflict, before the first call, when some
// were merged into others meanwhile.
using TakeStepBlock = std::function<void(std::int64_t step_block_id, const std::vector<Step>&)>;
Status ForEachStepBlock(Connection& connection, std::int64_t job_id,
                        const std::vector<std::int64_t>& ids, const TakeStepBlock& take);

// Reads and deletes the blocks that overlap [from, to], and the newest while it is not full, in the
// caller's transaction. nullopt when there are more than `most_blocks`.
Result<std::vector<Step>> TakeStepBlocks(Connection& connection, std::int64_t job_id, int rank,
                                         std::int64_t from_us, std::int64_t to_us,
                                         std::size_t most_blocks);
// Writes sorted steps as blocks, each with its summary; returns how many.
Result<std::size_t> SaveStepBlocks(Connection& connection, std::int64_t job_id, int rank,
                                   std::span<const Step> steps);

}  // namespace stepscope

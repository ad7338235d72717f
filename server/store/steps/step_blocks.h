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

// Blocks of steps: up to so many of one rank, in the order of their start. Blocks of a rank seldom
// overlap; readers sort.
inline constexpr std::size_t kStepsPerBlock = 4'096;

// The rows of a table of steps: step, start_us, wall_ns, then phases.
std::vector<Step> StepsOf(const Schema& schema, const Table& table);

Result<std::vector<Step>> DecodeSteps(std::string_view payload, const Schema& schema);

// By start and number, each once.
void SortSteps(std::vector<Step>& steps);

// The steps of the oldest blocks that a query needs, about `budget` of them, and how far they tell
// everything.
struct StepBlocks {
  std::vector<Step> steps;
  std::int64_t complete_before_us = INT64_MAX;
};
Result<StepBlocks> LoadStepBlocks(Connection& connection, const StepQuery& query,
                                  std::size_t budget);

// Calls `take` with the steps of each of these blocks. Conflict, before the first: some of them
// were merged into others meanwhile.
using TakeStepBlock = std::function<void(std::int64_t step_block_id, const std::vector<Step>&)>;
Status ForEachStepBlock(Connection& connection, std::int64_t job_id,
                        const std::vector<std::int64_t>& ids, const TakeStepBlock& take);

// Takes out the blocks that overlap [from, to], and the newest while it is not full: gives their
// steps and deletes them, in the caller's transaction. Nothing when there are more than
// `most_blocks`.
Result<std::vector<Step>> TakeStepBlocks(Connection& connection, std::int64_t job_id, int rank,
                                         std::int64_t from_us, std::int64_t to_us,
                                         std::size_t most_blocks);
// Writes sorted steps as blocks, each with its summary; says how many.
Result<std::size_t> SaveStepBlocks(Connection& connection, std::int64_t job_id, int rank,
                                   std::span<const Step> steps);

}  // namespace stepscope

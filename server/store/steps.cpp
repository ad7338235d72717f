// Steps and annotation statistics of a rank, put together from frames.

#include <algorithm>
#include <map>

#include "core/wire/table_codec.h"
#include "server/store/capped_sum.h"
#include "server/store/series.h"
#include "server/store/step_blocks.h"
#include "server/store/stored_frames.h"

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

// Cut to so many, but never between two that start at one instant: the caller goes on behind it.
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

// Columns: name, from_us, to_us, count, sum_ns, min_ns, max_ns.
void AddAnnotations(const Schema& schema, const Table& table,
                    std::map<std::string, AnnotationRow>& rows) {
  const auto value = [&](std::size_t column, std::size_t row) {
    return table.columns[column].values[row];
  };
  for (std::size_t row = 0; row < table.rows; ++row) {
    const std::uint64_t name = static_cast<std::uint64_t>(value(0, row));
    if (name >= schema.names.size()) continue;
    AnnotationRow& sum = rows[schema.names[name]];
    sum.min_ns = sum.count == 0 ? value(5, row) : std::min(sum.min_ns, value(5, row));
    sum.max_ns = std::max(sum.max_ns, value(6, row));
    sum.count = CappedSum(sum.count, value(3, row));
    sum.sum_ns = CappedSum(sum.sum_ns, value(4, row));
  }
}

// Sorted, each once. What is compacted meanwhile is in frames and blocks, so frames come first.
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
  all = choice.count == keys.size() && blocks->complete_before_us == INT64_MAX;
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
  // Frames that overlap may leave nothing that is complete; then more of them are read.
  for (std::size_t budget = query.most_rows;; budget *= 2) {
    const Result<std::vector<FrameKey>> keys = ListFrames(connection, wanted);
    if (!keys) return keys.error();
    bool all = false;
    Result<std::vector<Step>> steps = ReadChosen(connection, query, *keys, budget, all);
    if (!steps || !steps->empty() || all) return steps;
  }
}

Result<std::map<int, std::vector<AnnotationRow>>> ReadAnnotations(Connection& connection,
                                                                  std::int64_t job_id,
                                                                  std::span<const int> ranks) {
  if (ranks.empty()) return std::map<int, std::vector<AnnotationRow>>{};
  const FrameQuery wanted{.job_id = job_id,
                          .kind = FrameKind::kAnnotations,
                          .node_id = {},
                          .ranks = {ranks.begin(), ranks.end()},
                          .after_us = INT64_MIN};
  const Result<std::vector<FrameKey>> keys = ListFrames(connection, wanted);
  if (!keys) return keys.error();
  if (keys->size() >= kMostFramesListed && ranks.size() > 1) {
    const std::size_t half = ranks.size() / 2;
    auto some = ReadAnnotations(connection, job_id, ranks.first(half));
    auto others = ReadAnnotations(connection, job_id, ranks.subspan(half));
    if (some && others) some->merge(*others);
    return others ? some : others;
  }
  std::map<int, std::map<std::string, AnnotationRow>> found;
  const Status read = ForEachTable(
      connection, job_id, *keys, keys->size(), [&](const Schema& schema, const Table& table) {
        AddAnnotations(schema, table, found[static_cast<int>(schema.rank)]);
      });
  if (!read) return read.error();
  std::map<int, std::vector<AnnotationRow>> lists;
  for (auto& [rank, rows] : found) {
    for (auto& [name, row] : rows) {
      row.name = name;
      lists[rank].push_back(std::move(row));
    }
  }
  return lists;
}

}  // namespace stepscope

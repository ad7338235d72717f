#include "server/store/steps/new_steps.h"

#include <algorithm>

#include "core/wire/frame.h"
#include "server/store/steps/step_blocks.h"

namespace stepscope {
namespace {

// With a push every two seconds and an evaluation every ten a rank has five new frames. Frames are
// found by their node, of which there are few; ranks may have moved.
constexpr std::size_t kFewPerRank = 8, kFewMore = 64;

constexpr char kNew[] = R"(
(select f.rank, f.schema_hash, s.content, f.payload
from nodes n
join frames f on f.job_id = n.job_id and f.node_id = n.node_id and f.kind = 2 and f.to_us > $4
    and f.from_us <= $5
join unnest($2::integer[], $3::bigint[]) as known (rank, after_us)
    on known.rank = f.rank and f.to_us > known.after_us
join schemas s on s.job_id = f.job_id and s.schema_hash = f.schema_hash
where n.job_id = $1
limit $6)
union all
(select b.rank, b.schema_hash, s.content, b.payload
from unnest($2::integer[], $3::bigint[]) as known (rank, after_us)
join step_blocks b on b.job_id = $1 and b.rank = known.rank and b.to_us > known.after_us
    and b.from_us <= $5
join schemas s on s.job_id = b.job_id and s.schema_hash = b.schema_hash
limit $6))";
enum Cell : std::size_t { kRank, kHash, kContent, kPayload };

class StepsReader {
 public:
  StepsReader(std::span<const StepPosition> positions, std::int64_t until_us)
      : until_us_(until_us) {
    for (const StepPosition& position : positions)
      after_us_[position.rank] = position.after_us, steps_[position.rank];
  }

  Status Take(const Rows& rows, std::size_t row) {
    const auto [schema, fresh] = schemas_.try_emplace(rows.Int(row, kHash));
    if (fresh) {
      Result<Schema> decoded = DecodeSchema(rows.BytesView(row, kContent));
      if (!decoded) return Internal("steps: their schema: " + decoded.error().message);
      schema->second = std::move(*decoded);
    }
    const auto all = DecodeSteps(rows.BytesView(row, kPayload), schema->second);
    if (!all) return all.error();
    const int rank = static_cast<int>(rows.Int(row, kRank));
    std::ranges::copy_if(*all, std::back_inserter(steps_[rank]), [&](const Step& step) {
      const std::int64_t start_us = ToMicros(step.start);
      return start_us > after_us_[rank] && start_us <= until_us_;
    });
    return {};
  }

  std::map<int, std::vector<Step>> Sorted() && {
    for (auto& [rank, steps] : steps_) SortSteps(steps);
    return std::move(steps_);
  }

 private:
  const std::int64_t until_us_;
  std::map<int, std::int64_t> after_us_;
  std::map<int, std::vector<Step>> steps_;
  std::map<std::int64_t, Schema> schemas_;  // by hash
};

}  // namespace

Result<std::optional<std::map<int, std::vector<Step>>>> ReadNewSteps(
    Connection& connection, std::int64_t job_id, std::span<const StepPosition> positions,
    std::int64_t until_us) {
  StepsReader found(positions, until_us);
  if (positions.empty()) return std::optional(std::move(found).Sorted());
  std::vector<std::int64_t> ranks, after_us;
  for (const StepPosition& position : positions) {
    ranks.push_back(position.rank);
    after_us.push_back(position.after_us);
  }
  const std::size_t few = kFewPerRank * positions.size() + kFewMore;
  const Result<Rows> rows = connection.QueryByKey(
      kNew, {job_id, Parameter::Array(ranks), Parameter::Array(after_us),
             *std::ranges::min_element(after_us), until_us, static_cast<std::int64_t>(few)});
  if (!rows) return rows.error();
  if (rows->size() >= few) return std::optional<std::map<int, std::vector<Step>>>();
  for (std::size_t row = 0; row < rows->size(); ++row) {
    if (Status taken = found.Take(*rows, row); !taken) return taken.error();
  }
  return std::optional(std::move(found).Sorted());
}

}  // namespace stepscope

// Gives the summary of each block that no other source overlaps, and in a few statements the steps
// of all the rest.

#include "server/store/steps/step_pieces.h"

#include <algorithm>
#include <map>

#include "server/store/steps/step_blocks.h"
#include "server/store/steps/step_groups.h"
#include "server/store/steps/steps.h"

namespace stepscope {
namespace {

constexpr std::int64_t kStepsAtOnce = 100'000;  // in memory, 104 bytes each
constexpr std::size_t kMostBlocks = 200'000;
constexpr char kBlocks[] = R"(
select rank, step_block_id, from_us, to_us, rows, summary
from step_blocks
where job_id = $1 and rank = any($2::bigint[])
order by rank, from_us, step_block_id
limit 200000)";

// The groups of some ranks, and the rows that they refer to.
struct Listed {
  std::vector<FrameKey> frames;
  Rows blocks;
  std::map<int, std::vector<StepSource>> sources;  // by rank
};

Result<Listed> List(Connection& connection, std::int64_t job_id, std::span<const int> ranks) {
  const std::vector<std::int64_t> wanted(ranks.begin(), ranks.end());
  const FrameQuery of_steps{.job_id = job_id,
                            .kind = FrameKind::kSteps,
                            .node_id = {},
                            .ranks = wanted,
                            .after_us = INT64_MIN};
  Result<std::vector<FrameKey>> frames = ListFrames(connection, of_steps);
  if (!frames) return frames.error();
  Result<Rows> blocks = connection.Query(kBlocks, {job_id, Parameter::Array(wanted)});
  if (!blocks) return blocks.error();
  Listed listed{std::move(*frames), std::move(*blocks), {}};
  for (const FrameKey& key : listed.frames) {
    const int rank = static_cast<int>(key.rank);
    listed.sources[rank].push_back({rank, key.from_us, key.to_us, key.rows, 0, {}, &key});
  }
  for (std::size_t i = 0; i < listed.blocks.size(); ++i) {
    const int rank = static_cast<int>(listed.blocks.Int(i, 0));
    listed.sources[rank].push_back({rank, listed.blocks.Int(i, 2), listed.blocks.Int(i, 3),
                                    listed.blocks.Int(i, 4), listed.blocks.Int(i, 1),
                                    listed.blocks.IsNull(i, 5) ? "" : listed.blocks.BytesView(i, 5),
                                    nullptr});
  }
  return listed;
}

// Gives the steps of a group of any size, page by page.
Status TakePages(Connection& connection, std::int64_t job_id, int rank, const StepGroup& group,
                 const TakeStepPiece& take) {
  StepQuery query{.job_id = job_id,
                  .rank = rank,
                  .after_us = group.from_us - 1,
                  .until_us = group.to_us,
                  .most_rows = kStepsAtOnce};
  for (;;) {
    const Result<std::vector<Step>> steps = ReadSteps(connection, query);
    if (!steps) return steps.error();
    if (steps->empty()) return {};
    take({rank, nullptr, *steps});
    query.after_us = ToMicros(steps->back().start);
  }
}

// Gives groups in their order; all steps that have to be read are in memory at once.
Status TakeSome(Connection& connection, std::int64_t job_id, std::span<const StepGroup> groups,
                const TakeStepPiece& take) {
  Result<std::vector<std::vector<Step>>> steps = LoadGroups(connection, job_id, groups);
  if (!steps) return steps.error();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const StepSource& first = groups[i].sources.front();
    if (groups[i].summary.empty()) {
      if (!(*steps)[i].empty()) take({first.rank, nullptr, (*steps)[i]});
      continue;
    }
    // A summary that cannot be read counts as none.
    const Result<BlockSummary> summary = DecodeSummary(groups[i].summary);
    if (summary && CountSteps(*summary) == first.rows) {
      take({first.rank, &*summary, {}});
      continue;
    }
    if (Status done = TakePages(connection, job_id, first.rank, groups[i], take); !done) {
      return done;
    }
  }
  return {};
}

Status TakeAll(Connection& connection, std::int64_t job_id, const std::vector<StepGroup>& groups,
               const TakeStepPiece& take) {
  std::size_t from = 0;
  while (from < groups.size()) {
    std::int64_t rows = groups[from].rows_to_read;
    std::size_t to = from + 1;
    if (rows > kStepsAtOnce) {
      const int rank = groups[from].sources.front().rank;
      const Status done = TakePages(connection, job_id, rank, groups[from], take);
      if (!done) return done;
      from = to;
      continue;
    }
    while (to < groups.size() && rows + groups[to].rows_to_read <= kStepsAtOnce) {
      rows += groups[to++].rows_to_read;
    }
    const Status done =
        TakeSome(connection, job_id, std::span(groups).subspan(from, to - from), take);
    if (!done) return done;
    from = to;
  }
  return {};
}

}  // namespace

Status ReadStepPieces(Connection& connection, std::int64_t job_id, std::span<const int> ranks,
                      std::int64_t most_read, const TakeStepPiece& take) {
  if (ranks.empty()) return {};
  const Result<Listed> listed = List(connection, job_id, ranks);
  if (!listed) return listed.error();
  if (listed->frames.size() >= kMostFramesListed || listed->blocks.size() >= kMostBlocks) {
    if (ranks.size() == 1) {
      return TakePages(connection, job_id, ranks[0], {0, INT64_MAX, 0, {}, {}}, take);
    }
    const auto [first, rest] =
        std::pair(ranks.first(ranks.size() / 2), ranks.subspan(ranks.size() / 2));
    const Status done = ReadStepPieces(connection, job_id, first, most_read, take);
    return done ? ReadStepPieces(connection, job_id, rest, most_read, take) : done;
  }
  std::vector<StepGroup> groups;
  for (const int rank : ranks) {
    const auto sources = listed->sources.find(rank);
    if (sources == listed->sources.end()) continue;
    std::ranges::move(GroupSources(sources->second, most_read), std::back_inserter(groups));
  }
  return TakeAll(connection, job_id, groups, take);
}

}  // namespace stepscope

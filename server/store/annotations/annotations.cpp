#include "server/store/annotations/annotations.h"

// Statistics of annotations, summed up from blocks and the frames that are not compacted yet.

#include <utility>

#include "server/store/annotations/annotation_blocks.h"
#include "server/store/frames/stored_frames.h"

namespace stepscope {
namespace {

using SumsByRank = std::map<int, AnnotationSums>;

Status AddFrames(Connection& connection, std::int64_t job_id, const std::vector<FrameKey>& keys,
                 SumsByRank& sums) {
  const Result<Schemas> schemas = LoadSchemas(connection, job_id, keys, keys.size());
  if (!schemas) return schemas.error();
  const auto take = [&](const Schema* schema, const std::string& payload) -> Status {
    if (!schema || payload.empty()) return {};
    return AddAnnotations(sums[schema->rank], payload, *schema);
  };
  return ForEachFrame(connection, job_id, keys, keys.size(), *schemas, take);
}

std::map<int, std::vector<AnnotationRow>> ToLists(const SumsByRank& ranks) {
  std::map<int, std::vector<AnnotationRow>> lists;
  for (const auto& [rank, sums] : ranks) {
    for (const auto& [name, bins] : sums) {
      const AnnotationSum all = SumOf(bins);
      AnnotationRow row{name, all.count, all.sum_ns, all.min_ns, all.max_ns, {}};
      for (const auto& [bin, sum] : bins) {
        if (bin != kNoBin && sum.count > 0) row.bins.emplace(bin, sum.count);
      }
      lists[rank].push_back(std::move(row));
    }
  }
  return lists;
}

}  // namespace

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
  if (keys->size() >= kMostFramesListed) {
    if (ranks.size() == 1) return TooManyFrames();
    const std::size_t half = ranks.size() / 2;
    auto some = ReadAnnotations(connection, job_id, ranks.first(half));
    auto others = ReadAnnotations(connection, job_id, ranks.subspan(half));
    if (some && others) some->merge(*others);
    return others ? some : others;
  }
  Result<SumsByRank> sums = SumAnnotationBlocks(connection, job_id, ranks);
  if (!sums) return sums.error();
  const Status added = AddFrames(connection, job_id, *keys, *sums);
  if (!added) return added.error();
  return ToLists(*sums);
}

}  // namespace stepscope

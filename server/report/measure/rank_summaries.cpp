#include "server/report/measure/rank_summaries.h"

#include <algorithm>
#include <map>

#include "core/base/json_members.h"
#include "core/model/span_bins.h"
#include "server/store/jobs/jobs.h"

namespace stepscope {
namespace {

// The most steps of a rank that are read one by one. Of more, summaries of blocks are read, whose
// points are as fine as a curve of so many steps.
constexpr std::int64_t kMostStepsRead = 16'000;
constexpr std::size_t kRanksAtOnce = 8;  // ranks whose steps are in memory at a time

double Seconds(std::int64_t ns) {
  return Rounded(double(ns) / 1e9, 9);
}

// The bins from the first to the last that has steps; the open last bin ends with the longest step.
OrderedJson Histogram(const AnnotationRow& row) {
  OrderedJson edges = OrderedJson::array(), counts = OrderedJson::array();
  if (row.bins.empty()) return {{"edges_seconds", edges}, {"counts", counts}};
  const int first = row.bins.begin()->first, last = row.bins.rbegin()->first;
  for (int bin = first; bin <= last; ++bin) {
    const auto found = row.bins.find(bin);
    counts.push_back(found == row.bins.end() ? 0 : found->second);
    edges.push_back(Seconds(SpanBinBegin(bin)));
  }
  edges.push_back(Seconds(last + 1 < kSpanBins ? SpanBinBegin(last + 1) : row.max_ns));
  return {{"edges_seconds", edges}, {"counts", counts}};
}

OrderedJson ToJson(const AnnotationRow& row) {
  const double mean_ns = row.count > 0 ? double(row.sum_ns) / double(row.count) : 0;
  return {{"name", row.name},
          {"count", row.count},
          {"total_seconds", Seconds(row.sum_ns)},
          {"mean_seconds", Rounded(mean_ns / 1e9, 9)},
          {"min_seconds", Seconds(row.min_ns)},
          {"max_seconds", Seconds(row.max_ns)},
          {"histogram", Histogram(row)}};
}

using Take = std::function<void(const RankSummary&)>;

// Reads within a snapshot of the database.
Status Summarise(Connection& connection, std::int64_t job_id, std::span<const RankOnNode> ranks,
                 std::size_t bins, const Take& take) {
  std::vector<int> numbers;
  for (const RankOnNode& rank : ranks) numbers.push_back(rank.rank);
  std::map<int, StepSummary> summaries;
  const Status read =
      ReadStepPieces(connection, job_id, numbers, kMostStepsRead, [&](const StepPiece& piece) {
        StepSummary& summary = summaries[piece.rank];
        if (piece.block) summary.Add(*piece.block);
        for (const Step& step : piece.steps) summary.Add(step);
      });
  if (!read) return read;
  auto annotations = ReadAnnotations(connection, job_id, numbers);
  if (!annotations) return annotations.error();
  for (const RankOnNode& rank : ranks) {
    take({rank, summaries[rank.rank].Finish(bins), std::move((*annotations)[rank.rank])});
  }
  return {};
}

}  // namespace

Result<std::vector<RankOnNode>> FindRanks(Connection& connection, std::int64_t job_id,
                                          std::optional<std::int64_t> only) {
  const Result<std::vector<NodeRow>> nodes = ListNodes(connection, job_id);
  if (!nodes) return nodes.error();
  const Result<std::vector<RankRow>> rows = ListRanks(connection, job_id);
  if (!rows) return rows.error();
  std::map<std::int64_t, std::string> names;
  for (const NodeRow& node : *nodes) names.emplace(node.node_id, node.name);
  std::vector<RankOnNode> ranks;
  for (const RankRow& row : *rows) {
    if (only && *only != row.rank) continue;
    const auto node = names.find(row.node_id);
    ranks.push_back({row.rank, node == names.end() ? "" : node->second});
  }
  return ranks;
}

// At most `most` ranks, always with the first and the last.
std::vector<RankOnNode> EvenlyChosen(const std::vector<RankOnNode>& ranks, std::size_t most) {
  if (ranks.size() <= most) return ranks;
  std::vector<RankOnNode> chosen;
  for (std::size_t at = 0; at < most; ++at) {
    chosen.push_back(ranks[at * (ranks.size() - 1) / std::max<std::size_t>(most - 1, 1)]);
  }
  return chosen;
}

OrderedJson ToJson(const RankSummary& summary) {
  OrderedJson json = {{"rank", summary.of.rank}, {"node", NullIfEmpty(summary.of.node)}};
  Put(summary.steps, json);
  json["annotations"] = OrderedJson::array();
  for (const AnnotationRow& row : summary.annotations) json["annotations"].push_back(ToJson(row));
  return json;
}

// In one snapshot each step is in a frame or in a block.
Status ForEachSummary(Connection& connection, std::int64_t job_id,
                      std::span<const RankOnNode> ranks, std::size_t bins, const Take& take) {
  const Result<Transaction> snapshot = Transaction::Snapshot(connection);
  if (!snapshot) return snapshot.error();
  for (std::size_t from = 0; from < ranks.size(); from += kRanksAtOnce) {
    const std::size_t count = std::min(kRanksAtOnce, ranks.size() - from);
    const Status done = Summarise(connection, job_id, ranks.subspan(from, count), bins, take);
    if (!done) return done;
  }
  return {};
}

}  // namespace stepscope

// GET /jobs/{name}/steps: a summary for each rank, or every step of one.

#include <algorithm>
#include <map>
#include <span>

#include "core/base/text.h"
#include "core/model/span_bins.h"
#include "server/api/answer.h"
#include "server/api/find_job.h"
#include "server/api/query.h"
#include "server/api/routes.h"
#include "server/api/step_summary.h"
#include "server/store/series.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMostRanks = 256;  // in one answer
// Of a rank. More than that come as summaries of blocks, whose points are as fine as those of a
// curve of so many steps.
constexpr std::int64_t kMostStepsRead = 16'000;
constexpr std::size_t kRanksAtOnce = 8;  // for which summaries lie in memory
constexpr std::string_view kFormats[] = {"summary", "rows"};
constexpr QueryParameter kStepQuery[] = {
    {"rank", QueryParameter::kInteger, 0, 1'048'575},
    {"bins", QueryParameter::kInteger, 1, 500},
    {"format", QueryParameter::kWord, 1, 1, kFormats},
    kCursorParameter,
    {"limit", QueryParameter::kInteger, 1, 5'000},
    {"most", QueryParameter::kInteger, 1, kMostRanks},
};

// A rank and the name of its node.
struct RankOnNode {
  int rank = 0;
  OrderedJson node;
};

Result<std::vector<RankOnNode>> FindRanks(Connection& connection, const JobRow& job,
                                          std::optional<std::int64_t> only) {
  const Result<std::vector<NodeRow>> nodes = ListNodes(connection, job.job_id);
  if (!nodes) return nodes.error();
  const Result<std::vector<RankRow>> rows = ListRanks(connection, job.job_id);
  if (!rows) return rows.error();
  std::vector<RankOnNode> ranks;
  for (const RankRow& row : *rows) {
    if (only && *only != row.rank) continue;
    const auto node = std::ranges::find(*nodes, row.node_id, &NodeRow::node_id);
    ranks.push_back(
        {row.rank, node == nodes->end() ? OrderedJson(nullptr) : OrderedJson(node->name)});
  }
  return ranks;
}

double Seconds(std::int64_t ns) {
  return Rounded(double(ns) / 1e9, 9);
}

// From the first bin that has any to the last; the one without an end ends with the longest.
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

// Appends to `list` what there is to say of some ranks, at one instant.
Status Summarise(Connection& connection, std::int64_t job_id, std::span<const RankOnNode> ranks,
                 std::size_t bins, OrderedJson& list) {
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
    OrderedJson json = {{"rank", rank.rank}, {"node", rank.node}};
    summaries[rank.rank].Put(json, bins);
    json["annotations"] = OrderedJson::array();
    for (const AnnotationRow& row : (*annotations)[rank.rank]) {
      json["annotations"].push_back(ToJson(row));
    }
    list.push_back(std::move(json));
  }
  return {};
}

// Of more than `most` that many, among them the first and the last.
std::vector<RankOnNode> EvenlyChosen(const std::vector<RankOnNode>& ranks, std::size_t most) {
  if (ranks.size() <= most) return ranks;
  std::vector<RankOnNode> chosen;
  for (std::size_t at = 0; at < most; ++at) {
    chosen.push_back(ranks[at * (ranks.size() - 1) / std::max<std::size_t>(most - 1, 1)]);
  }
  return chosen;
}

Result<Reply> AnswerSummaries(Connection& connection, const Request& request, const JobRow& job,
                              const Query& query, const std::vector<RankOnNode>& ranks) {
  const std::vector<RankOnNode> shown =
      EvenlyChosen(ranks, static_cast<std::size_t>(query.Int("most", INT64_MAX)));
  if (shown.size() > std::size_t{kMostRanks}) {
    return Query::Refuse(request, "rank",
                         Format("the job has {} ranks; choose one, or give most", ranks.size()));
  }
  OrderedJson list = OrderedJson::array();
  // In one snapshot each step is in a frame or in a block.
  const Result<Transaction> snapshot = Transaction::Snapshot(connection);
  if (!snapshot) return snapshot.error();
  const auto bins = static_cast<std::size_t>(query.Int("bins", 50));
  for (std::size_t from = 0; from < shown.size(); from += kRanksAtOnce) {
    const std::size_t count = std::min(kRanksAtOnce, shown.size() - from);
    const Status done =
        Summarise(connection, job.job_id, std::span(shown).subspan(from, count), bins, list);
    if (!done) return done.error();
  }
  return JobReply(job, {{"ranks", std::move(list)}, {"left_out", ranks.size() - shown.size()}});
}

OrderedJson ToJson(const Step& step) {
  OrderedJson json = {{"step", step.number}};
  PutTime(json, "start", ToMicros(step.start));
  json["wall_seconds"] = Seconds(step.wall.count());
  json["phases_seconds"] = OrderedJson::object();
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
    if (step.phases[phase].count() == 0) continue;
    const std::string name(ToText(static_cast<Phase>(phase)));
    json["phases_seconds"][name] = Seconds(step.phases[phase].count());
  }
  return json;
}

// The cursor is the start of the last step that was shown.
Result<std::int64_t> ReadCursor(const Query& query) {
  if (!query.Has("cursor")) return 0;
  const Result<std::string> plain = FromBase64Url(query.Text("cursor"));
  if (!plain) return plain.error();
  return ParseInt(*plain, "cursor");
}

// So many steps, or all there are. One read may give fewer: it counts what it unpacks.
Result<std::vector<Step>> ReadPage(Connection& connection, StepQuery query, std::size_t rows) {
  std::vector<Step> page;
  while (page.size() < rows) {
    query.most_rows = rows - page.size();
    const Result<std::vector<Step>> steps = ReadSteps(connection, query);
    if (!steps) return steps.error();
    if (steps->empty()) break;
    page.insert(page.end(), steps->begin(), steps->end());
    query.after_us = ToMicros(page.back().start);
  }
  return page;
}

Result<Reply> AnswerRows(Connection& connection, const Request& request, const JobRow& job,
                         const Query& query, const std::vector<RankOnNode>& ranks) {
  if (ranks.size() != 1) {
    return Query::Refuse(request, "rank", Format("the job has {} ranks; choose one", ranks.size()));
  }
  const Result<std::int64_t> after_us = ReadCursor(query);
  if (!after_us) return Query::Refuse(request, "cursor", "is not the cursor of such a list");
  const auto limit = static_cast<std::size_t>(query.Int("limit", 500));
  const StepQuery behind = {
      .job_id = job.job_id, .rank = ranks.front().rank, .after_us = *after_us};
  const Result<std::vector<Step>> steps = ReadPage(connection, behind, limit + 1);
  if (!steps) return steps.error();
  OrderedJson items = OrderedJson::array();
  for (std::size_t at = 0; at < std::min(limit, steps->size()); ++at) {
    items.push_back(ToJson((*steps)[at]));
  }
  OrderedJson next = nullptr;
  if (steps->size() > limit) {
    next = ToBase64Url(std::to_string(ToMicros((*steps)[limit - 1].start)));
  }
  return JobReply(job, {{"rank", ranks.front().rank},
                        {"node", ranks.front().node},
                        {"items", items},
                        {"next", next}});
}

Result<Reply> ReadJobSteps(const Api&, Connection& connection, const Request& request,
                           const PathParameters& path) {
  const Query query(request, kStepQuery);
  if (!query.faults().empty()) return query.Refusal(request);
  const bool rows = query.Text("format") == "rows";
  for (const char* name : {"cursor", "limit"}) {
    if (!rows && query.Has(name)) return Query::Refuse(request, name, "only with format=rows");
  }
  if (rows && query.Has("most")) return Query::Refuse(request, "most", "not with format=rows");

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const auto ranks = FindRanks(connection, *job, query.MaybeInt("rank"));
  if (!ranks) return ranks.error();
  if (query.Has("rank") && ranks->empty()) {
    return Query::Refuse(request, "rank", Format("the job has no rank {}", query.Text("rank")));
  }
  return rows ? AnswerRows(connection, request, *job, query, *ranks)
              : AnswerSummaries(connection, request, *job, query, *ranks);
}

}  // namespace

std::vector<Route> StepRoutes(const Api& api) {
  return {Bulk(ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/steps", ReadJobSteps))};
}

}  // namespace stepscope

#include "server/evaluate/feed.h"

#include <algorithm>

#include "core/model/metric.h"
#include "rules/engine/next_check.h"

namespace stepscope {
namespace {

constexpr Duration kLongestStep = std::chrono::hours(24 * 366);

// The most ticks to read of a node, so that all nodes together stay below the cells.
std::size_t RowsOfANode(const JobFacts& facts, const JobReads& reads, const FeedOptions& options) {
  std::size_t cpu = 0, gpu = 0, other = 0;
  for (const std::string& name : reads.metrics()) {
    const Metric* metric = FindMetric(name);
    const bool known = metric != nullptr;
    ++(known && metric->device == DeviceKind::kCpu   ? cpu
       : known && metric->device == DeviceKind::kGpu ? gpu
                                                     : other);
  }
  std::size_t columns = 1;
  for (const NodeFacts& node : facts.nodes) {
    columns += node.gpus * gpu + static_cast<std::size_t>(node.cores) * cpu + other;
  }
  return std::clamp<std::size_t>(options.cells / columns, 300, 100'000);
}

// The time after which ticks of a node are new: its last tick shown, and not before the last scan.
Time StartOf(const std::string& node, Duration scan_interval, const Watermark& watermark) {
  Time start = FromMicros(-1);
  if (watermark.origin && watermark.scans > 0) {
    start = *watermark.origin + scan_interval * watermark.scans - 1us;
  }
  const auto seen = watermark.nodes.find(node);
  return seen == watermark.nodes.end() ? start : std::max(start, seen->second);
}

// Reads ticks of one node until `until` or until there are enough; returns the time up to which all
// were read.
Result<Time> ReadNode(JobReads& reads, std::int64_t node_id, Time after, Time until,
                      std::size_t most, NewRows& rows, NewTicks& ticks) {
  std::size_t read = 0;
  std::int64_t after_us = ToMicros(after);
  while (after_us < ToMicros(until) && read < most) {
    const auto table = reads.ReadTicks(node_id, after_us, ToMicros(until), most);
    if (!table.ok()) return table.error();
    if ((*table)->at_us.empty()) return until;
    read += (*table)->at_us.size();
    rows.count += (*table)->at_us.size();
    after_us = (*table)->complete ? ToMicros(until) : (*table)->at_us.back();
    ticks.tables.push_back(*table);
  }
  return std::min(until, FromMicros(after_us));
}

Status ReadAllTicks(JobReads& reads, const JobView& view, const Watermark& watermark, Time horizon,
                    const FeedOptions& options, NewRows& rows) {
  const std::size_t most = RowsOfANode(view.facts, reads, options);
  rows.until = horizon;
  for (const NodePresence& node : view.nodes) {
    if (!node.last) continue;
    const Time after = StartOf(node.name, options.scan_interval, watermark);
    const Time until = std::min(horizon, *node.last);
    NewTicks ticks{node.name, {}};
    const auto reached = ReadNode(reads, node.node_id, after, until, most, rows, ticks);
    if (!reached.ok()) return reached.error();
    if (*reached < until) {
      rows.full = true;
      rows.until = std::min(*rows.until, *reached);
    }
    if (!ticks.tables.empty()) rows.ticks.push_back(std::move(ticks));
  }
  return {};
}

std::string NodeName(const JobView& view, std::int64_t node_id) {
  const auto node = std::ranges::find(view.nodes, node_id, &NodePresence::node_id);
  return node == view.nodes.end() ? "" : node->name;
}

Time EndOf(const Step& step) {
  return step.start + std::clamp(step.wall, Duration::zero(), kLongestStep);
}

// The start of the last step shown of each rank of the job, in the order of the ranks; -1 where
// none was shown.
std::vector<StepPosition> PlacesOf(const JobView& view, const Watermark& watermark) {
  std::vector<StepPosition> places;
  for (const RankRow& rank : view.ranks) {
    const auto seen = watermark.ranks.find(rank.rank);
    const bool shown = seen != watermark.ranks.end();
    places.push_back({rank.rank, shown ? ToMicros(seen->second) : -1});
  }
  return places;
}

Status ReadAllSteps(JobReads& reads, StepNeed need, const JobView& view, const Watermark& watermark,
                    const FeedOptions& options, NewRows& rows) {
  const bool first_only = need == StepNeed::kFirst;
  const std::size_t share = options.steps / std::max<std::size_t>(view.ranks.size(), 1);
  const std::size_t most = first_only ? 1 : std::max<std::size_t>(share, 100);
  const std::vector<StepPosition> places = PlacesOf(view, watermark);
  if (!first_only) {
    if (const Status read = reads.FetchSteps(places, most); !read.ok()) return read;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const RankRow& rank = view.ranks[i];
    const auto [number, after_us] = places[i];
    if (first_only && after_us >= 0) continue;
    const auto steps = reads.ReadSteps(number, after_us, most);
    if (!steps.ok()) return steps.error();
    if ((*steps)->empty()) continue;
    rows.count += (*steps)->size();
    rows.full = rows.full || (!first_only && (*steps)->size() * 2 > most);
    if (!first_only && (*steps)->size() >= most) {
      const Time end = EndOf((*steps)->back());
      rows.steps_until = std::min(rows.steps_until.value_or(end), end);
    }
    rows.steps.push_back({rank.rank, NodeName(view, rank.node_id), *steps});
  }
  return {};
}

void ShowSteps(const NewSteps& rank, Watermark& watermark, Fold& fold) {
  // A process may report any length; a length that cannot be added to a time counts as none.
  std::vector<Step> steps;
  std::ranges::copy_if(*rank.steps, std::back_inserter(steps), [](const Step& step) {
    return step.wall >= Duration::zero() && step.wall < kLongestStep;
  });
  fold.Observe(StepView{rank.rank, rank.node, steps});
  watermark.ranks[rank.rank] = rank.steps->back().start;
}

// Shows all ticks of the node before `end`.
void ShowTicks(NewTicks& ticks, Time end, Watermark& watermark, Fold& fold) {
  while (ticks.Next() && *ticks.Next() < end) {
    const TickTable& table = *ticks.tables[ticks.table];
    TickView view{ticks.node,    table.at_us, table.series,
                  table.columns, ticks.row,   table.at_us.size()};
    const auto behind = std::ranges::lower_bound(table.at_us, ToMicros(end));
    view.end = static_cast<std::size_t>(behind - table.at_us.begin());
    fold.Observe(view);
    watermark.fresh = true;
    watermark.nodes[ticks.node] = view.At(view.end - 1);
    ticks.row = view.end;
    if (ticks.row < table.at_us.size()) return;
    ++ticks.table;
    ticks.row = 0;
  }
}

// The time of the earliest tick that was not shown yet.
std::optional<Time> NextTick(const NewRows& rows) {
  std::optional<Time> earliest;
  for (const NewTicks& ticks : rows.ticks) {
    const auto next = ticks.Next();
    if (next) earliest = std::min(earliest.value_or(*next), *next);
  }
  return earliest;
}

Time NextScan(const Watermark& watermark, Duration scan_interval) {
  return *watermark.origin + scan_interval * (watermark.scans + 1);
}

// Without ticks since the last scan there is nothing to scan before the next tick.
void SkipScans(const NewRows& rows, Duration scan_interval, Watermark& watermark) {
  const Time jump = std::min(NextTick(rows).value_or(*rows.until), *rows.until);
  const std::int64_t behind = (jump - *watermark.origin) / scan_interval;
  if (behind <= watermark.scans) return;
  watermark.scans = behind;
  watermark.next_check.reset();
}

// Does what is due now: a scan, or a check that makes an early scan when the fold would fire.
void ScanOrCheck(Time at, Duration scan_interval, Watermark& watermark, Fold& fold) {
  const Time origin = *watermark.origin, scan = NextScan(watermark, scan_interval);
  if (at < scan) {
    watermark.next_check = CheckFold(fold, watermark.fresh, origin, at, scan);
    return;
  }
  fold.Scan(at);
  ++watermark.scans;
  watermark.fresh = false;
  watermark.next_check = NextCheck(fold, origin, at, scan + scan_interval);
}

// Shows the ticks before the next scan or check, and does the scan or check when it is due; returns
// whether another may be due.
bool FeedPiece(NewRows& rows, Duration scan_interval, Watermark& watermark, Fold& fold) {
  if (!watermark.fresh) SkipScans(rows, scan_interval, watermark);
  const Time until = *rows.until, scan = NextScan(watermark, scan_interval);
  const Time due = watermark.next_check.value_or(scan);
  for (NewTicks& ticks : rows.ticks) {
    ShowTicks(ticks, std::min(due, until + 1us), watermark, fold);
  }
  if (due > until || (due == scan && !watermark.fresh)) return false;
  ScanOrCheck(due, scan_interval, watermark, fold);
  return true;
}

}  // namespace

std::optional<Time> NewTicks::Next() const {
  if (table == tables.size()) return std::nullopt;
  return FromMicros(tables[table]->at_us[row]);
}

Result<NewRows> ReadNewRows(JobReads& reads, const Needs& needs, const JobView& view,
                            const Watermark& watermark, std::optional<Time> horizon,
                            const FeedOptions& options) {
  NewRows rows;
  // Reads ticks after steps: a step that ended is stored with the ticks of its time or before.
  if (needs.steps != StepNeed::kNone) {
    const Status read = ReadAllSteps(reads, needs.steps, view, watermark, options, rows);
    if (!read.ok()) return read.error();
  }
  if (!needs.metrics.empty() && horizon) {
    // Ticks never overtake steps that are left for the next turn.
    const Time until = std::min(*horizon, rows.steps_until.value_or(*horizon));
    const Status read = ReadAllTicks(reads, view, watermark, until, options, rows);
    if (!read.ok()) return read.error();
  }
  return rows;
}

void FeedRows(NewRows& rows, Duration scan_interval, bool last, Watermark& watermark, Fold& fold) {
  for (const NewSteps& rank : rows.steps) ShowSteps(rank, watermark, fold);
  if (!rows.until) return;
  if (!watermark.origin) watermark.origin = NextTick(rows);
  if (!watermark.origin) return;
  while (FeedPiece(rows, scan_interval, watermark, fold)) {
  }
  if (!last || !watermark.fresh) return;
  fold.Scan(*rows.until + 1us);
  watermark.fresh = false;
}

}  // namespace stepscope

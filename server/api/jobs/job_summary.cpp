#include "server/api/jobs/job_summary.h"

#include <algorithm>
#include <vector>

#include "server/api/http/answer.h"
#include "server/store/rollups/rollups.h"
#include "server/store/steps/steps.h"
#include "server/store/ticks/job_head.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostRemembered = 5'000;
constexpr std::size_t kMostNodes = 4;
constexpr std::int64_t kSecondUs = 1'000'000;
// At least so many bins, so that their borders are near those of the parts.
constexpr std::int64_t kRollupsInAll = 60;
constexpr std::int64_t kReadWholeUs = 600 * kSecondUs;
constexpr char kCpu[] = "node_cpu_percent", kGpu[] = "gpu_util_percent";

struct Mean {
  double sum = 0;
  std::int64_t count = 0;

  void Add(double total, std::int64_t more) {
    sum += total;
    count += more;
  }
  std::optional<double> Value() const {
    return count == 0 ? std::nullopt : std::optional(Rounded(sum / double(count), 2));
  }
};

// From the first step to the last one, where steps are known; use before and after says nothing of
// the training.
struct StepSpan {
  std::int64_t from_us = INT64_MIN, to_us = INT64_MAX;

  bool Has(std::int64_t at_us) const { return from_us <= at_us && at_us <= to_us; }
};

// The samples of one metric: of equal parts of the job's time, of all of it, and of its steps.
struct MetricUse {
  std::array<Mean, kSparkPoints> parts;
  Mean all, within_steps;
};

struct Parts {
  std::int64_t from_us = 0, to_us = 0;
  StepSpan steps;
  MetricUse cpu, gpu;

  std::size_t PartOf(std::int64_t at_us) const {
    const double share =
        double(at_us - from_us) / double(std::max<std::int64_t>(to_us - from_us, 1));
    const auto part = static_cast<std::int64_t>(share * double(kSparkPoints));
    return static_cast<std::size_t>(std::clamp<std::int64_t>(part, 0, kSparkPoints - 1));
  }
  // Samples from `at_us` on, of so long a time.
  void Add(MetricUse& use, std::int64_t at_us, std::int64_t long_us, double total,
           std::int64_t count) const {
    use.parts[PartOf(at_us)].Add(total, count);
    use.all.Add(total, count);
    if (steps.Has(at_us + long_us / 2)) use.within_steps.Add(total, count);
  }
};

MetricUse& UseOf(const std::string& metric, Parts& parts) {
  return metric == kGpu ? parts.gpu : parts.cpu;
}

void AddTicks(const TickTable& table, Parts& parts) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    MetricUse& use = UseOf(table.series[column].metric, parts);
    for (std::size_t row = 0; row < table.at_us.size(); ++row) {
      if (!table.columns[column].Has(row)) continue;
      parts.Add(use, table.at_us[row], 0, table.columns[column].At(row), 1);
    }
  }
}

void AddRollup(const NodeRollup& rollup, std::int64_t bin_us, Parts& parts) {
  MetricUse& use = UseOf(rollup.metric, parts);
  for (const RollupDevice& device : DevicesOf(rollup.bins)) {
    for (std::size_t row = 0; row < rollup.bins.at_us.size(); ++row) {
      const std::int64_t at_us = rollup.bins.at_us[row];
      const bool inside = at_us + bin_us > parts.from_us && at_us <= parts.to_us;
      if (!inside || !device.count->Has(row)) continue;
      parts.Add(use, at_us, bin_us, device.sum->At(row), device.count->values[row]);
    }
  }
}

// Reads every sample of a short range, else rollups and the samples that are not in them yet.
Status AddNodes(Connection& connection, std::int64_t job_id,
                const std::vector<std::int64_t>& node_ids, Parts& parts) {
  TickQuery query{.job_id = job_id,
                  .after_us = parts.from_us - 1,
                  .until_us = parts.to_us,
                  .filter = {{kCpu, kGpu}, {}}};
  const bool whole = parts.to_us - parts.from_us <= kReadWholeUs;
  for (const std::int64_t node_id : node_ids) {
    query.node_id = node_id;
    if (whole) {
      const Result<TickTable> table = ReadTicks(connection, query);
      if (!table) return table.error();
      AddTicks(*table, parts);
      continue;
    }
    const Status fresh = ForEachFreshNode(connection, query, [&](const NodeTicks& node) {
      AddTicks(node.ticks, parts);
      return Status();
    });
    if (!fresh) return fresh;
  }
  if (whole) return {};
  const RollupLevel* level = LevelFor((parts.to_us - parts.from_us) / kRollupsInAll);
  const RollupQuery rollups{.job_id = job_id,
                            .node_ids = node_ids,
                            .bin_us = level->bin_us,
                            .from_us = parts.from_us,
                            .until_us = parts.to_us,
                            .filter = query.filter,
                            .means = true};
  return ForEachRollup(connection, rollups, [&](const NodeRollup& rollup) {
    AddRollup(rollup, level->bin_us, parts);
    return Status();
  });
}

// The mean of the steps, or of all the time where no step was sampled.
std::optional<double> MeanOf(const MetricUse& use) {
  return use.within_steps.count > 0 ? use.within_steps.Value() : use.all.Value();
}

Status SummariseTicks(Connection& connection, std::int64_t job_id, const StepSpan& steps,
                      JobSummary& summary) {
  const Result<std::vector<TickRange>> ranges = ReadTickRanges(connection, job_id);
  if (!ranges) return ranges.error();
  if (ranges->empty()) return {};
  Parts parts{.from_us = std::ranges::min(*ranges, {}, &TickRange::from_us).from_us,
              .to_us = std::ranges::max(*ranges, {}, &TickRange::to_us).to_us,
              .steps = steps,
              .cpu = {},
              .gpu = {}};
  const std::size_t nodes = std::min(ranges->size(), kMostNodes);
  std::vector<std::int64_t> node_ids;
  for (std::size_t pick = 0; pick < nodes; ++pick) {
    node_ids.push_back((*ranges)[pick * ranges->size() / nodes].node_id);
  }
  const Result<Transaction> snapshot = Transaction::Snapshot(connection);
  if (!snapshot) return snapshot.error();
  if (Status added = AddNodes(connection, job_id, node_ids, parts); !added) return added;
  summary.mean_cpu_percent = MeanOf(parts.cpu);
  summary.mean_gpu_percent = MeanOf(parts.gpu);
  std::ranges::transform(parts.cpu.parts, summary.cpu.begin(), &Mean::Value);
  std::ranges::transform(parts.gpu.parts, summary.gpu.begin(), &Mean::Value);
  return {};
}

Status SummariseSteps(Connection& connection, const JobRow& job, std::int64_t now_us,
                      StepSpan& span, JobSummary& summary) {
  const Result<std::optional<int>> rank = FirstRank(connection, job.job_id);
  if (!rank) return rank.error();
  if (!*rank) return {};
  const std::int64_t end_us = job.ended_us.value_or(now_us);
  const Result<std::vector<Step>> steps = ReadSteps(connection, {.job_id = job.job_id,
                                                                 .rank = **rank,
                                                                 .after_us = end_us - kReadWholeUs,
                                                                 .most_rows = 20'000});
  if (!steps) return steps.error();
  const Result<std::vector<Step>> first =
      ReadSteps(connection, {.job_id = job.job_id, .rank = **rank, .most_rows = 1});
  if (!first) return first.error();
  if (!first->empty()) span.from_us = ToMicros(first->front().start);
  if (!steps->empty()) span.to_us = ToMicros(steps->back().start + steps->back().wall);
  std::vector<Duration> walls;
  for (const Step& step : *steps) walls.push_back(step.wall);
  if (walls.empty()) return {};
  const auto middle = walls.begin() + static_cast<std::ptrdiff_t>((walls.size() - 1) / 2);
  std::ranges::nth_element(walls, middle);
  summary.median_step_seconds = Rounded(ToSeconds(*middle), 6);
  return {};
}

}  // namespace

Result<JobSummary> JobSummaries::Of(Connection& connection, const JobRow& job) {
  const SteadyTime now = clock_.Steady();
  const auto fresh = entries_.Read([&](const auto& entries) -> std::optional<JobSummary> {
    const auto found = entries.find(job.job_id);
    if (found == entries.end() || found->second.until < now) return std::nullopt;
    return found->second.summary;
  });
  if (fresh) return *fresh;
  JobSummary summary;
  StepSpan steps;
  Status read = SummariseSteps(connection, job, ToMicros(clock_.Now()), steps, summary);
  if (read) read = SummariseTicks(connection, job.job_id, steps, summary);
  if (!read) return read.error();
  // The last samples of a job may arrive a little after its end.
  const std::int64_t ended_us = job.ended_us.value_or(INT64_MAX);
  const bool settled = HasEnded(job.status) && ended_us + 60 * kSecondUs < ToMicros(clock_.Now());
  entries_.Change([&](auto& entries) {
    if (entries.size() >= kMostRemembered) entries.clear();
    entries[job.job_id] = {summary, now + (settled ? Duration(1h) : Duration(4s))};
  });
  return summary;
}

std::optional<JobSummary> JobSummaries::Remembered(std::int64_t job_id) const {
  return entries_.Read([&](const auto& entries) -> std::optional<JobSummary> {
    const auto found = entries.find(job_id);
    return found == entries.end() ? std::nullopt : std::optional(found->second.summary);
  });
}

}  // namespace stepscope

// Reads the data of a report: one SQL statement for each kind of thing, whatever the number of
// rules, and the series and steps as charts read them.

#include <algorithm>
#include <limits>
#include <set>

#include "core/base/json_members.h"
#include "core/base/text.h"
#include "server/report/page/diagnosis_answer.h"
#include "server/report/page/rank_remarks.h"
#include "server/report/page/report.h"
#include "server/report/page/rule_uses.h"
#include "server/report/text/natural_order.h"
#include "server/store/frames/streams.h"
#include "server/store/jobs/job_rows.h"

namespace stepscope {
namespace {

constexpr std::size_t kStepBins = 40;        // bins of a histogram of steps
constexpr std::size_t kMostFrameworks = 20;  // names of them

std::optional<std::int64_t> Integer(const Json& facts, const char* key) {
  const Json member = MemberInteger(facts, key);
  if (member.is_null()) return std::nullopt;
  return member.get<std::int64_t>();
}

// The smaller of the cores that the job is bound to and its quota, where that is less than the node
// has.
std::optional<double> UsableCores(const Json& facts) {
  double usable = std::numeric_limits<double>::infinity();
  for (const char* const name : {"cores_allowed", "cpu_quota"}) {
    const auto fact = facts.find(name);
    const bool bounds = fact != facts.end() && fact->is_number() && fact->get<double>() > 0;
    if (bounds) usable = std::min(usable, fact->get<double>());
  }
  const auto cores = Integer(facts, "cores");
  const bool less = cores && usable < static_cast<double>(*cores);
  return less ? std::optional(usable) : std::nullopt;
}

std::optional<std::int64_t> UsableMemory(const Json& facts) {
  const auto usable = Integer(facts, "memory_allowed_bytes");
  const auto memory = Integer(facts, "memory_bytes");
  const bool less = usable && memory && *usable > 0 && *usable < *memory;
  return less ? usable : std::nullopt;
}

std::string NameOf(const Json& gpu) {
  if (gpu.is_string()) return gpu.get<std::string>();
  const Json name = MemberText(gpu, "name");
  return name.is_string() ? name.get<std::string>() : "";
}

ReportNode ToReportNode(const NodeRow& row) {
  const ListFact gpus = ListIn(row.facts, "gpus");
  return {.name = row.name,
          .cores = Integer(row.facts, "cores"),
          .memory_bytes = Integer(row.facts, "memory_bytes"),
          .usable_cores = UsableCores(row.facts),
          .usable_memory_bytes = UsableMemory(row.facts),
          .gpus = gpus.count,
          .gpu_name = NameOf(gpus.first),
          .hooks_missing = TextOf(row.facts, "hooks_missing"),
          .last_seen_us = row.last_seen_us,
          .ended_us = row.ended_us,
          .exit_code = row.exit_code,
          .signal = row.exit_signal};
}

Status TakeRanks(Connection& connection, Report& report) {
  std::set<std::string> frameworks;
  RankRemarks remarks;
  const auto take = [&](const std::vector<RankRow>& some) {
    for (const RankRow& rank : some) {
      const Json framework = MemberText(rank.facts, "framework");
      const bool room = frameworks.size() < kMostFrameworks;
      if (room && framework.is_string()) frameworks.insert(framework.get<std::string>());
      report.dropped_marks += Integer(rank.facts, "dropped").value_or(0);
    }
    report.ranks += some.size();
    remarks.Add(some);
  };
  const Status read = ReadRanksInPieces(connection, report.job.job_id, kReportedFacts, take);
  if (!read) return read;
  report.frameworks = {frameworks.begin(), frameworks.end()};
  report.rank_remarks = remarks.Sentences();
  return {};
}

// Sentences about the busiest GPU and the busiest node.
std::string UsageSentence(const UsageTable& usage) {
  double cpu = -1, gpu = -1, gpu_median = -1;
  for (const UsageRow& row : usage.rows) {
    if (row.metric == "node_cpu_percent") cpu = std::max(cpu, row.p95);
    if (row.metric != "gpu_util_percent") continue;
    gpu = std::max(gpu, row.p95);
    gpu_median = std::max(gpu_median, row.p50);
  }
  if (cpu < 0 && gpu < 0) return "Nothing was measured of CPU and GPU.";
  const std::string cpu_text = cpu < 0 ? "CPU not measured" : Format("CPU {:.1f} %", cpu);
  if (gpu < 0)
    return Format("95th percentile on the busiest node: {}. No GPU was measured.", cpu_text);
  const std::string both =
      Format("95th percentile on the busiest node: GPU {:.1f} %, {}.", gpu, cpu_text);
  if (gpu_median > 70) return both + " Of its GPUs' samples more than half are above 70 %.";
  if (gpu >= 70) return both + " Its GPUs had work, but not all the time.";
  if (cpu > 70)
    return both + " The GPUs had room while the CPU was busy: a bottleneck on the CPU is likely.";
  return both + " Both had room: the machines are larger than the job needs.";
}

PhaseTotals TotalsOf(const std::vector<RankSummary>& ranks) {
  PhaseTotals totals;
  for (const RankSummary& rank : ranks) {
    totals.steps += rank.steps.count;
    totals.seconds += rank.steps.mean * static_cast<double>(rank.steps.count);
    for (const StepFigures::PhaseSum& sum : rank.steps.phases) {
      auto place = std::ranges::find(totals.phases, sum.phase, &StepFigures::PhaseSum::phase);
      if (place == totals.phases.end()) place = totals.phases.insert(place, {sum.phase, 0, 0});
      place->seconds += sum.seconds;
    }
  }
  for (StepFigures::PhaseSum& sum : totals.phases) {
    sum.share_percent = totals.seconds > 0 ? 100 * sum.seconds / totals.seconds : 0;
  }
  std::ranges::stable_sort(totals.phases, {}, [](const StepFigures::PhaseSum& sum) {
    return ParsePhase(sum.phase).value_or(static_cast<Phase>(kPhaseCount));  // unnamed: the last
  });
  return totals;
}

Status TakeUsage(Connection& connection, const SeriesRange& range, Report& report) {
  report.data_from_us = range.from_us;
  report.data_to_us = range.to_us;
  report.interval_us = range.interval_us;
  Result<UsageTable> usage = ReadUsage(connection, range, {}, &report.uses);
  if (!usage) return usage.error();
  report.usage = std::move(*usage);
  report.usage_sentence = UsageSentence(report.usage);
  return {};
}

Status TakeSteps(Connection& connection, Report& report) {
  const std::int64_t job_id = report.job.job_id;
  const auto ranks = FindRanks(connection, job_id);
  if (!ranks) return ranks.error();
  const std::vector<RankOnNode> shown = EvenlyChosen(*ranks, kRanksShown);
  report.ranks_left_out = ranks->size() - shown.size();
  const Status read =
      ForEachSummary(connection, job_id, shown, kStepBins,
                     [&](const RankSummary& summary) { report.steps.push_back(summary); });
  if (!read) return read;
  const auto loop = ReadLoop(connection, job_id, report.steps);
  if (!loop) return loop.error();
  if (*loop) {
    report.times.loop_from_us = (*loop)->from_us;
    report.times.loop_to_us = (*loop)->to_us;
  }
  report.phases = TotalsOf(report.steps);
  return {};
}

// One source for one number: the phases that the diagnosis shows. They are all 0 without steps.
std::optional<JobPhases> PhasesOf(const OrderedJson& diagnosis) {
  const OrderedJson& parts = diagnosis["parts"];
  if (!parts.is_object()) return std::nullopt;
  const auto seconds = [&](const char* name) { return parts.value(name, 0.0); };
  const JobPhases phases = {seconds("initialisation"), seconds("training"), seconds("evaluation"),
                            seconds("finalisation")};
  if (phases.training + phases.evaluation <= 0) return std::nullopt;
  return phases;
}

Status TakeRules(Connection& connection, const SeriesRange& range, Report& report) {
  const std::int64_t job_id = report.job.job_id;
  const auto states = ListRuleStates(connection, job_id);
  if (!states) return states.error();
  const auto transitions = ListTransitions(connection, job_id);
  if (!transitions) return transitions.error();
  auto findings = ListLongestFindings(connection, job_id, kFindingsShown);
  if (!findings) return findings.error();
  const Duration interval(IntervalUs(report.job, report.data_from_us, report.data_to_us) * 1'000);
  report.rules = RuleSections(*states, *transitions, std::move(*findings), interval);
  report.diagnosis = WholeDiagnosis(report.job, *states, *transitions);
  report.verdict = VerdictOf(*states);
  report.times.phases = PhasesOf(report.diagnosis);
  for (RuleSection& rule : report.rules) {
    if (const Status read = ReadRuleUses(connection, range, rule); !read) return read;
  }
  return {};
}

Status TakeHosts(Connection& connection, Report& report) {
  const std::int64_t job_id = report.job.job_id;
  constexpr std::string_view kOfNodes[] = {"cores",        "cores_allowed",        "cpu_quota",
                                           "memory_bytes", "memory_allowed_bytes", "gpus",
                                           "hooks_missing"};
  const auto nodes = ListNodes(connection, job_id, kOfNodes);
  if (!nodes) return nodes.error();
  for (const NodeRow& node : *nodes) report.nodes.push_back(ToReportNode(node));
  std::ranges::stable_sort(report.nodes, IsBefore, &ReportNode::name);
  if (const Status read = TakeRanks(connection, report); !read) return read;
  const Result<FrameLosses> losses = SumLosses(connection, job_id);
  if (!losses) return losses.error();
  report.lost_frames = losses->lost;
  report.rejected_frames = losses->rejected;
  return {};
}

}  // namespace

std::size_t Report::Gpus() const {
  std::size_t gpus = 0;
  for (const ReportNode& node : nodes) gpus += node.gpus;
  return gpus;
}

Result<Report> GatherReport(Connection& connection, const ReportQuery& query) {
  Result<JobHead> head = LoadJobHead(connection, query.job);
  if (!head) return head.error();
  Report report;
  report.version = query.version;
  report.job = head->job;
  report.url = JobUrl(query.public_url, report.job.name);
  report.running = !HasEnded(report.job.status);
  report.times.ended = !report.running;
  report.times.from_us = report.job.started_us.value_or(report.job.created_us);
  report.times.to_us =
      std::max(report.running ? query.now_us : report.job.ended_us.value_or(report.times.from_us),
               report.times.from_us);
  report.as_of_us = report.times.to_us;
  SeriesRange range = WholeRange(std::move(*head));
  std::ranges::stable_sort(range.nodes, IsBefore, &NodeBrief::name);
  Status read = TakeUsage(connection, range, report);
  if (read) read = TakeHosts(connection, report);
  if (read) read = TakeSteps(connection, report);
  if (read) read = TakeRules(connection, range, report);
  if (!read) return read.error();
  return report;
}

}  // namespace stepscope

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "server/report/measure/device_use.h"
#include "server/report/measure/job_times.h"
#include "server/report/measure/rank_summaries.h"
#include "server/report/measure/usage_table.h"
#include "server/report/page/report_text.h"
#include "server/report/page/rule_section.h"
#include "server/store/jobs/job_list.h"

namespace stepscope {

struct ReportNode {
  std::string name;
  std::optional<std::int64_t> cores, memory_bytes;
  // What the job may use of these, where that is less.
  std::optional<double> usable_cores;
  std::optional<std::int64_t> usable_memory_bytes;
  std::size_t gpus = 0;
  std::string gpu_name;       // name of the first GPU; "" when it is not known
  std::string hooks_missing;  // why steps of its processes are not seen; "" where that is not known
  std::int64_t last_seen_us = 0;
  std::optional<std::int64_t> ended_us, exit_code, signal;
};

// The time of the steps of all ranks, by phase.
struct PhaseTotals {
  std::int64_t steps = 0;
  double seconds = 0;
  std::vector<StepFigures::PhaseSum> phases;  // in the order of a step, then the unnamed time
};

// The source of a number of the report, and where to read it.
struct MethodRow {
  std::string_view number, formula, source;
};
std::span<const MethodRow> Method();

// The content of a job's report, as plain data.
struct Report {
  std::string version, url;
  std::int64_t as_of_us = 0;
  bool running = false;
  JobRow job;
  std::vector<ReportNode> nodes;
  std::vector<std::string> frameworks;  // reported by the ranks
  std::size_t ranks = 0;
  std::vector<std::string> rank_remarks;
  std::int64_t dropped_marks = 0;  // marks that came faster than the agent could take them
  std::int64_t lost_frames = 0, rejected_frames = 0;
  std::int64_t data_from_us = 0, data_to_us = 0, interval_us = 0;

  JobTimes times;
  UsageTable usage;
  std::string usage_sentence;
  DeviceUses uses;
  std::vector<RankSummary> steps;  // summaries of up to kRanksShown ranks
  std::size_t ranks_left_out = 0;
  PhaseTotals phases;
  std::vector<RuleSection> rules;
  JobVerdict verdict = JobVerdict::kUnknown;
  OrderedJson diagnosis;  // the answer of GET /jobs/{name}/diagnosis

  std::size_t Gpus() const;
};
inline constexpr std::size_t kRanksShown = 64;

// Gathers the report; NotFound names the job. Its cost is that of the table of usage and the
// summaries of steps.
Result<Report> GatherReport(Connection& connection, const ReportQuery& query);

OrderedJson ToJson(const Report& report);

}  // namespace stepscope

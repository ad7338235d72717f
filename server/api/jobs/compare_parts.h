#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/json.h"
#include "server/api/jobs/job_summary.h"
#include "server/edge/http/message.h"
#include "server/report/measure/step_summary.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// Parts of GET /compare beside its tables.

// Step times as a line, at most 125 points: {steps, mean_seconds, start_seconds}, the first step of
// each point, the mean of its steps, and when it began after the job did, null for a job without a
// start. Points are merged in the order of time.
OrderedJson LineOf(const StepCurve& curve, std::optional<std::int64_t> job_start_us);

// The histogram of step times: {edges_seconds, counts}, one edge more than counts.
OrderedJson HistogramOf(const StepFigures& steps);

// Utilisation in equal parts of the job's time, null where nothing was measured.
OrderedJson PartsOf(const Sparkline& parts);

// Money for an hour of a GPU, as the rule ProfilerReport was told; none where it was not.
std::optional<double> PriceOf(const std::vector<RuleStateRow>& rules);

// Members of what a job's GPUs cost, and 1,000 of its steps by their mean; null where a number is
// not known.
void PutMoney(OrderedJson& json, std::optional<double> price_per_gpu_hour, std::size_t gpus,
              std::optional<double> run_seconds, std::optional<double> mean_step_seconds);

// The answer as a table: a row for each number or text of both jobs, with its part of the answer.
Reply ComparisonCsv(const OrderedJson& compared);

}  // namespace stepscope

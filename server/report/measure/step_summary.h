#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "server/report/measure/step_curve.h"
#include "server/report/measure/step_walls.h"
#include "server/store/steps/step_pieces.h"

namespace stepscope {

// The figures of the steps of one rank.
struct StepFigures {
  std::int64_t count = 0, first = 0, last = 0;                   // numbers of steps
  double mean = 0, max = 0, p99 = 0, p95 = 0, p50 = 0, min = 0;  // wall time in seconds
  double error_percent = 0;                                      // error of the percentiles
  std::vector<double> edges;  // edges of the histogram's bins in seconds: one more than counts
  std::vector<std::int64_t> counts;
  struct PhaseSum {
    std::string_view phase;                 // "unnamed" for time in no phase
    double seconds = 0, share_percent = 0;  // not rounded: rounding is left to the page
  };
  std::vector<PhaseSum> phases;      // phases that took time
  double evaluation_seconds = 0;     // of evaluations that interrupted the steps
  std::int64_t gpu_steps = 0;        // steps for which the GPU's clock is known
  double gpu_idle_seconds = 0;       // before these steps, as for all below: by the GPU's clock
  std::vector<PhaseSum> gpu_phases;  // shares of the time of all that ran
  StepCurve curve;
};
// Adds the figures as members of `json`.
void Put(const StepFigures& figures, OrderedJson& json);

// Condenses the steps of one rank for a page: percentiles, a histogram, the sums of the phases, and
// a curve. Steps are added in the order of time, one by one or as summaries of blocks.
class StepSummary {
 public:
  void Add(const Step& step);
  void Add(const BlockSummary& block);

  // Called when all steps were added; the histogram has `bins` bins.
  StepFigures Finish(std::size_t bins);

 private:
  std::vector<StepFigures::PhaseSum> Phases() const;
  std::vector<StepFigures::PhaseSum> GpuPhases() const;

  StepWalls walls_;
  StepTimeSums times_;
  std::int64_t first_ = 0, last_ = 0;
  StepCurve curve_;
};

}  // namespace stepscope

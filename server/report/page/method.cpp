// The last section of a report: how its numbers are made.

#include "server/report/page/report.h"

namespace stepscope {
namespace {

constexpr MethodRow kMethod[] = {
    {"initialisation", "end of the first step - first sample of the job",
     "/jobs/{name}/diagnosis: parts"},
    {"training loop", "end of the last step - end of the first, over all ranks",
     "/jobs/{name}/diagnosis: parts"},
    {"evaluation", "time of the evaluations that interrupted steps, of the rank that had most",
     "/jobs/{name}/diagnosis: parts"},
    {"finalisation",
     "end of the job - end of the last step; up to the newest sample where that came a tick or "
     "more before the end",
     "/jobs/{name}/diagnosis: parts; /jobs/{name}: ended_us"},
    {"system usage",
     "percentiles by nearest rank over all samples of a node; each GPU's samples count by "
     "themselves, the rates of interfaces add up; over means of 10 s, 60 s or 600 s where the "
     "samples were removed or are more than 4 million",
     "/jobs/{name}/usage"},
    {"box plots", "5th, 25th, 50th, 75th and 95th percentile over the whole job, to 0.1 %",
     "/jobs/{name}/percentiles?metric=gpu_util_percent"},
    {"workload histograms", "samples of a GPU by utilisation in 20 equal parts, both ends included",
     "/jobs/{name}/metrics?metric=gpu_util_percent"},
    {"lines over time",
     "mean, least and greatest value in each of up to 240 equal parts of the time",
     "/jobs/{name}/metrics"},
    {"step times",
     "wall time of every step of a rank; equal bins up to the 99th percentile, and one behind it; "
     "percentiles by nearest rank, within 0.4 % of their value for a rank of more than 16,000 "
     "steps",
     "/jobs/{name}/steps: wall_seconds, histogram"},
    {"phases", "time of the phase in all steps / wall time of all steps",
     "/jobs/{name}/steps: phases"},
    {"triggers",
     "how often the rule fired as it counts it itself (a GPU in a scan, a tick of a node); of a "
     "rule "
     "that does not count, its findings",
     "/jobs/{name}/rules: evidence.triggers; /jobs/{name}/findings: total"},
    {"share", "judged time in which the rule fired / judged time", "/jobs/{name}/rules: share"},
    {"severity", "by share x the part of the time that was lost", "/jobs/{name}/rules: severity"},
    {"diagnosis",
     "each cause's seconds / seconds of all GPUs (of all steps without GPUs); the rows add up to "
     "all of it; greatest gain = 1 / (1 - share)",
     "/jobs/{name}/diagnosis"},
};

}  // namespace

std::span<const MethodRow> Method() {
  return kMethod;
}

}  // namespace stepscope

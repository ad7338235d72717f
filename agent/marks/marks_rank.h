#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/marks/intake.h"
#include "agent/marks/marks_fold.h"
#include "agent/marks/marks_room.h"
#include "agent/marks/window_spans.h"
#include "core/wire/mark_message.h"

namespace stepscope {

// Facts of a process, beside its marks.
struct MarkSource {
  MarkHello hello;
  std::int64_t pid = 0;  // as the kernel reports it
  std::map<std::string, std::string> facts;
  std::int64_t dropped = 0;  // marks lost because a ring was full
  std::int64_t refused = 0;  // invalid marks
  std::int64_t cut = 0;      // steps that lost marks
};

// The value that a rank set for a metric, and when.
struct MetricValue {
  Time at{};
  double value = 0;

  // Keeps the newer value.
  void Keep(const MetricValue& other) {
    if (other.at >= at) *this = other;
  }
};

// The folded marks of one rank that were not taken yet. A rank may have several processes and
// threads; its steps come from one ring at a time, the first one that marked a step and still
// exists.
class RankRecord {
 public:
  static constexpr std::size_t kMostPendingSteps = 65'536;
  static constexpr std::size_t kMostMetrics = 64;

  // Bounds the steps that wait to be taken, by kMostPendingSteps at most.
  void LimitSteps(std::size_t most) { most_steps_ = std::min(most, kMostPendingSteps); }

  // The source of a step: `ring` identifies it, `pid` is the process that marks.
  struct StepSource {
    const void* ring = nullptr;
    std::int64_t pid = 0;
  };

  // `start_ns` is the step's start by the clock of the marks. Numbers that go back (a second
  // training in the same job) are shifted so that they go on.
  void AddStep(const StepSource& source, const Step& step, std::uint64_t start_ns);
  // Adds `sums`, all in one bin of durations (core/model/span_bins.h).
  void AddAnnotation(const std::string& name, const AnnotationSums& sums);
  // `name` is without "user.". False when it makes no valid custom metric, and for names beyond
  // kMostMetrics or for which `room`, which it lowers, has no bytes.
  bool SetMetric(const std::string& name, const MetricValue& value, MarkRoom& room);
  void RingEnded(const void* ring);

  // The spans of the window that is kept, if there is one.
  WindowSpans& spans() { return spans_; }
  // The number of the last step; -1 before the first.
  std::int64_t newest() const { return last_; }

  // Adds the counts of a process that has ended.
  void ProcessEnded(const MarkSource& process);

  // Facts of the rank's first process and counts of all its processes, as a JSON object.
  std::string Facts(const MarkSource& first, const std::vector<const MarkSource*>& all) const;

  bool Empty() const { return steps_.empty() && annotations_.empty(); }

  // The sums of annotations that wait to be taken.
  std::size_t waiting_sums() const { return waiting_sums_; }
  // Memory that stays as long as the rank is known, about.
  std::size_t bytes() const { return bytes_; }

  // Takes out everything that is complete; empty when nothing is.
  RankMarks Take(std::int32_t rank);

  // Takes out the metrics that were set since the last call.
  void TakeMetrics(std::int32_t rank, const UseMetric& use);

  // Takes out how long the rank evaluated: the sum of its annotations "evaluation" since then.
  Duration TakeEvaluated() { return std::exchange(evaluated_, Duration(0)); }

 private:
  struct Metric {
    std::string metric;
    std::optional<MetricValue> newest{};  // none: taken
  };

  void NoteClaim(std::int64_t pid);
  // A warning for people when several processes marked steps of the rank while the first one was
  // there, whose steps are kept; "" when they did not.
  std::string SecondProcess(std::int32_t rank) const;

  WindowSpans spans_;
  std::vector<Step> steps_;
  std::size_t most_steps_ = kMostPendingSteps;
  std::map<std::string, std::map<int, AnnotationSums>> annotations_;  // by name and bin
  std::map<std::string, Metric> metrics_;                             // by name without "user."
  std::size_t waiting_sums_ = 0;
  std::size_t bytes_ = 0;
  Duration evaluated_{};               // not taken yet
  StepSource owner_;                   // the source whose steps are kept; null: none marked one yet
  std::vector<std::int64_t> claimed_;  // processes whose steps met another's, the owner first
  std::int64_t shift_ = 0;
  std::int64_t last_ = -1;
  std::int64_t ignored_steps_ = 0;
  MarkSource gone_;  // counts of ended processes
};

}  // namespace stepscope

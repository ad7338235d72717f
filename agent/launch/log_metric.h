#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/collect/collector.h"
#include "agent/collect/custom_series.h"
#include "agent/launch/pattern.h"
#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace stepscope {

// What `--log-metric 'throughput=samples/s: ([0-9.]+)'` says: in a line of output that fits the
// pattern, the first pair of parentheses holds the value of the metric user.throughput.
class LogPattern {
 public:
  // Invalid, naming what is wrong: the name, the pattern, no parentheses.
  static Result<LogPattern> Parse(std::string_view text);

  const std::string& metric() const { return metric_; }

  // Nothing where the line does not fit, or what fits is no finite number.
  std::optional<double> Read(const std::string& line) const;

 private:
  std::string metric_;
  Pattern pattern_;
};

// Reads the lines that the relay saw, at each tick; the last value of a metric since the tick
// before is its sample. A line is at most 1 KiB, and of one tick so many are read that a command
// that writes without end does not hold up the ticks. For one thread.
class LogMetrics : public Collector {
 public:
  LogMetrics(std::vector<LogPattern> patterns, Descriptor lines);

  Status Collect(SteadyTime now, TickRow& row) override;

 private:
  void Take(const std::string& line);

  const std::vector<LogPattern> patterns_;
  const Descriptor lines_;
  std::vector<std::optional<double>> values_;  // since the tick before
  std::vector<CustomSeries> series_;
  std::string line_;
};

}  // namespace stepscope

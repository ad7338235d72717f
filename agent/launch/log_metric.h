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

// An option such as `--log-metric 'throughput=samples/s: ([0-9.]+)'`: in a line of output that fits
// the pattern, the first pair of parentheses holds the value of the metric user.throughput.
class LogPattern {
 public:
  // Invalid names the fault: the name, the pattern, no parentheses.
  static Result<LogPattern> Parse(std::string_view text);

  const std::string& metric() const { return metric_; }

  // Nothing where the line does not fit, or the value is not a finite number.
  std::optional<double> Read(const std::string& line) const;

 private:
  std::string metric_;
  Pattern pattern_;
};

// Reads the lines of the relay at each tick; the last value of a metric since the previous tick is
// its sample. A line is at most 1 KiB, and the lines of one tick are bounded, so that a command
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

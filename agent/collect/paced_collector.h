#pragma once

#include "agent/collect/collector.h"
#include "agent/collect/series.h"

namespace stepscope {

// A collector that reads its source once in a period. Between two readings it returns the result of
// the last one, so that a failing source is reported once.
class PacedCollector : public Collector {
 public:
  explicit PacedCollector(Duration period) : pace_(period) {}

  Status Collect(SteadyTime now, TickRow& row) final {
    if (pace_.Due(now)) last_ = Read(now, row);
    return last_;
  }

 private:
  virtual Status Read(SteadyTime now, TickRow& row) = 0;

  Pace pace_;
  Status last_;
};

}  // namespace stepscope

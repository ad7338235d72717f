#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/collect/counter.h"
#include "agent/collect/tick_row.h"

namespace stepscope {

// A series that gets its column with its first value, so that values which a device does not have
// take no room.
class GaugeSeries {
 public:
  explicit GaugeSeries(std::string_view metric, std::string device = "")
      : metric_(metric), device_(std::move(device)) {}

  void Set(double value, TickRow& row) {
    if (!taken()) number_ = row.Add(metric_, device_), taken_ = true;
    row.Set(number_, value);
  }
  bool taken() const { return taken_; }

 private:
  std::string_view metric_;  // in the metric table, or a literal
  std::string device_;
  std::size_t number_ = TickRow::kNoColumn;
  bool taken_ = false;
};

// The growth of a counter per second, multiplied by `unit`.
class RateSeries {
 public:
  // The condition for making the column.
  enum From {
    kFirstUse,  // the counter is not 0: used since the start of the node
    kFirstMove  // it grew meanwhile: for errors, which most devices never have
  };

  RateSeries(std::string_view metric, std::string device, double unit = 1, From from = kFirstUse)
      : series_(metric, std::move(device)), unit_(unit), from_(from) {}

  // Begins anew with another device's counter.
  void Restart() { counter_ = {}; }

  // Returns the rate before the unit is applied.
  std::optional<double> Take(std::uint64_t value, SteadyTime now, TickRow& row) {
    const auto rate = counter_.Rate(value, now);
    const bool due = series_.taken() || (from_ == kFirstUse ? value > 0 : rate && *rate > 0);
    if (rate && due) series_.Set(*rate * unit_, row);
    return rate;
  }

 private:
  GaugeSeries series_;
  Counter counter_;
  double unit_;
  From from_;
};

// Limits how often a source is read, where each tick would cost more than it is worth.
class Pace {
 public:
  explicit Pace(Duration period) : period_(period) {}

  // Ticks come a little early and late; a tick that is early by less than a tenth of the period
  // counts.
  bool Due(SteadyTime now) { return Due(now, period_); }
  bool Due(SteadyTime now, Duration period) {
    if (now < next_) return false;
    next_ = now + period / 10 * 9;
    return true;
  }

 private:
  Duration period_;
  SteadyTime next_{};
};

}  // namespace stepscope

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "server/report/text/natural_order.h"

namespace stepscope {

// The use of a device over a whole job, in one metric: the count of each value, and a line over
// time. Percentages are kept to 0.1 %; other metrics have the line alone.
class DeviceUse {
 public:
  struct Point {
    std::int64_t at_us = 0;  // the begin of its stretch of time
    double mean = 0, least = 0, most = 0;
  };

  DeviceUse(std::int64_t from_us, std::int64_t width_us, bool percentage);

  // Adds a value at a time; for a mean, with the least and greatest value that it covers. The
  // values of each device come in the order of time, but for late ones.
  void Add(std::int64_t at_us, double value, double least, double most);

  std::uint64_t count() const { return count_; }
  double min() const { return least_; }
  double max() const { return most_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  // A percentile by nearest rank, for a percentage.
  double Percentile(double share) const;
  // The number of values in each of `parts` equal parts of 0 to 100 %, both ends included.
  std::vector<std::uint64_t> Spread(std::size_t parts) const;
  // The points of the line: stretches in which something was measured.
  std::vector<Point> Line() const;
  // A gap is drawn where there is no value for this long.
  std::int64_t LeastGapUs(std::int64_t interval_us) const;

 private:
  struct Stretch {
    std::uint64_t count = 0;
    double sum = 0, least = 0, most = 0;
  };
  std::int64_t from_us_, width_us_, last_us_ = 0, shortest_us_ = INT64_MAX;
  std::vector<std::uint32_t> values_;  // by 0.1 %
  std::vector<Stretch> stretches_;
  std::uint64_t count_ = 0;
  double sum_ = 0, least_ = 0, most_ = 0;
};

// The uses of all devices of a job.
class DeviceUses {
 public:
  using Key = std::tuple<std::string, std::string, std::string>;  // metric, node, device
  static constexpr std::int64_t kPoints = 240;                    // the most points of a line

  // For values about `interval_us` apart.
  void Begin(std::int64_t from_us, std::int64_t to_us, std::int64_t interval_us);
  DeviceUse& Of(const std::string& node, const std::string& metric, const std::string& device);

  // Order by metric, then by node and device as people count them.
  const std::map<Key, DeviceUse, NaturalOrder>& all() const { return uses_; }
  std::int64_t interval_us() const { return interval_us_; }
  std::int64_t width_us() const { return width_us_; }

 private:
  std::int64_t from_us_ = 0, interval_us_ = 1, width_us_ = 1;
  std::map<Key, DeviceUse, NaturalOrder> uses_;
};

}  // namespace stepscope

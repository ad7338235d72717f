#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/store/series.h"

namespace stepscope {

// Samples on their way to a chart: for each series bins on a grid since the epoch, with least, mean
// and greatest value. Where nothing was measured for more than two intervals stands one empty bin.
class Chart {
 public:
  Chart(std::int64_t bin_us, std::int64_t interval_us)
      : bin_us_(bin_us), interval_us_(interval_us) {}

  // Ticks of a node; those of one node come in the order of time.
  void Add(const std::string& node, const TickTable& table);

  std::size_t series() const { return series_.size(); }

  // In the order of metric, node and device.
  OrderedJson ToJson() const;

  std::int64_t BinOf(std::int64_t at_us) const { return at_us - at_us % bin_us_; }

 private:
  struct Bin {
    std::int64_t at_us = 0, count = 0;  // no sample: a gap
    double sum = 0, least = 0, most = 0;
  };
  struct Line {
    std::vector<Bin> bins;
    std::int64_t last_us = 0;  // the newest sample
  };
  struct Place {
    std::string metric, node, device;
    auto operator<=>(const Place&) const = default;
  };
  void Add(Line& line, std::int64_t at_us, double value) const;
  static OrderedJson ToJson(const Place& place, const Line& line);

  const std::int64_t bin_us_, interval_us_;
  std::map<Place, Line> series_;
};

}  // namespace stepscope

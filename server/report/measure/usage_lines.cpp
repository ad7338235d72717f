#include "server/report/measure/usage_lines.h"

#include <algorithm>
#include <map>

#include "core/model/metric.h"

namespace stepscope {
namespace {

struct PointSum {
  DeviceUse::Point sum;
  double devices = 0;
};

struct Growing {
  UsageLine line;
  std::map<std::int64_t, PointSum> points;
};

void Add(const DeviceUse::Point& point, PointSum& to) {
  const bool first = to.devices == 0;
  to.sum.at_us = point.at_us;
  to.sum.mean += point.mean;
  to.sum.least = first ? point.least : std::min(to.sum.least, point.least);
  to.sum.most = first ? point.most : std::max(to.sum.most, point.most);
  ++to.devices;
}

UsageLine Finish(Growing&& growing, RateMerge rates) {
  const bool rate = rates == RateMerge::kAddUp && growing.line.unit == "bytes/s";
  for (auto& [at_us, gathered] : growing.points) {
    DeviceUse::Point point = gathered.sum;
    if (!rate) point.mean /= gathered.devices;
    if (rate && growing.line.devices > 1) point.least = point.most = point.mean;
    growing.line.points.push_back(point);
  }
  return std::move(growing.line);
}

}  // namespace

std::vector<UsageLine> LinesOf(const DeviceUses& uses, RateMerge rates) {
  std::map<std::tuple<std::string, std::string>, Growing, NaturalOrder> lines;
  for (const auto& [key, use] : uses.all()) {
    const auto& [metric, node, device] = key;
    Growing& growing = lines[{metric, node}];
    growing.line.node = node;
    growing.line.metric = metric;
    if (const Metric* known = FindMetric(metric)) growing.line.unit = known->unit;
    ++growing.line.devices;
    growing.line.gap_us = std::max(growing.line.gap_us, use.LeastGapUs(uses.interval_us()));
    for (const DeviceUse::Point& point : use.Line()) Add(point, growing.points[point.at_us]);
  }
  std::vector<UsageLine> list;
  for (auto& [key, growing] : lines) list.push_back(Finish(std::move(growing), rates));
  return list;
}

}  // namespace stepscope

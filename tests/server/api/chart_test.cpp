#include "server/api/chart.h"

#include <gtest/gtest.h>

#include "core/base/json.h"

namespace stepscope {
namespace {

Json SeriesOf(const Chart& chart) {
  std::string text = "[";
  chart.AppendTo(text);
  return Json::parse(text + "]");
}

TEST(Chart, SeriesOfTheSameTimesAndOfOthersHaveTheirOwn) {
  TickTable table{.at_us = {10, 20, 30, 90}, .series = {}, .columns = {}};
  const auto add = [&](const char* device, std::vector<std::uint8_t> present) {
    table.series.push_back({"gpu_util_percent", device});
    table.columns.push_back({.scale = 0, .values = {1, 2, 3, 4}, .present = std::move(present)});
  };
  add("gpu0", {1, 1, 1, 0});
  add("gpu1", {1, 1, 1, 0});
  add("gpu2", {1, 1, 0, 1});
  add("gpu3", {1, 1, 0, 1});
  add("gpu4", {1, 1, 1, 0});
  Chart chart(10, 10);
  chart.Add("n1", table);
  const Json series = SeriesOf(chart);
  const Json short_times = {10, 20, 30}, times_with_gap = {10, 20, 30, 90};
  for (const std::size_t i : {0, 1, 4}) EXPECT_EQ(series[i]["times_us"], short_times) << i;
  for (const std::size_t i : {2, 3}) EXPECT_EQ(series[i]["times_us"], times_with_gap) << i;
  EXPECT_EQ(series[3]["mean"], Json({1.0, 2.0, nullptr, 4.0}));
  EXPECT_EQ(series[4]["mean"], Json({1.0, 2.0, 3.0}));
}

TEST(Chart, RollupsOutsideOfItsTimeAreNotDrawn) {
  const Column ones{.scale = 0, .values = {1, 1, 1, 1}, .present = {}};
  const Column values{.scale = 0, .values = {5, 6, 7, 8}, .present = {}};
  const TickTable bins{
      .at_us = {0, 10, 20, 30},
      .series = {{kCount, "gpu0"}, {kGreatest, "gpu0"}, {kLeast, "gpu0"}, {kSum, "gpu0"}},
      .columns = {ones, values, values, values}};
  Chart chart(20, 10);
  chart.Add("n1", NodeRollup{1, "gpu_util_percent", bins}, 10, 10, 20);
  const Json series = SeriesOf(chart);
  EXPECT_EQ(series[0]["times_us"], Json({0, 20}));
  EXPECT_EQ(series[0]["mean"], Json({6.0, 7.0}));
}

}  // namespace
}  // namespace stepscope

#include "server/api/charts/chart.h"

#include <gtest/gtest.h>

#include <random>

#include "core/base/json.h"

namespace stepscope {
namespace {

Json SeriesOf(const Chart& chart, const ChartText& wanted = {}) {
  std::string text = "[";
  chart.AppendTo(text, wanted);
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

TEST(Chart, RunsAreBinsThatFollowEachOther) {
  const Column values{.scale = 0, .values = {1, 2, 3, 4}, .present = {}};
  Chart chart(10, 10);
  chart.Add("n1", {.at_us = {10, 20, 30, 90},
                   .series = {{"gpu_util_percent", "gpu0"}, {"gpu_util_percent", "gpu1"}},
                   .columns = {values, values}});
  const Json series = SeriesOf(chart, {.runs = true});
  for (const Json& one : series) {
    EXPECT_EQ(one["runs"], Json::parse("[[10, 4], [90, 1]]"));  // the gap is a bin, too
    EXPECT_EQ(one["mean"], Json::parse("[1.0, 2.0, 3.0, null, 4.0]"));
    EXPECT_FALSE(one.contains("times_us"));
  }
}

// Every second bin has two samples, the others have none, which is no gap yet.
TEST(Chart, RunsAndTimesSayTheSame) {
  TickTable table{.at_us = {}, .series = {{"load_1m", ""}}, .columns = {{}}};
  for (std::int64_t i = 0; i < 500; ++i) {
    table.at_us.push_back(1'795'205'614'000'000 + i / 2 * 14'000 + i % 2 * 3'000);
    table.columns[0].values.push_back(i);
  }
  Chart chart(7'000, 7'000);
  chart.Add("n1", table);
  const Json each = SeriesOf(chart)[0], runs = SeriesOf(chart, {.runs = true})[0];
  Json times = Json::array();
  for (const Json& run : runs["runs"]) {
    for (std::int64_t i = 0; i < run[1]; ++i)
      times.push_back(run[0].get<std::int64_t>() + i * 7'000);
  }
  EXPECT_EQ(times, each["times_us"]);
  EXPECT_GT(runs["runs"].size(), 1);
  EXPECT_EQ(runs["mean"], each["mean"]);
}

// Read at once, each sample has a bin and is written as it was read; in pieces it becomes a bin.
TEST(Chart, SamplesAndBinsSayTheSame) {
  std::mt19937_64 random(1);
  for (const int decimals : {0, 1, 2, 3, 4, 6, 9}) {
    const auto scale = static_cast<std::uint8_t>(decimals);
    TickTable whole{.at_us = {}, .series = {{"load_1m", ""}}, .columns = {{scale, {}, {}}}};
    Column& column = whole.columns[0];
    for (std::int64_t at_us = 1'795'205'614'000'000; column.values.size() < 300;) {
      at_us += 500'000 * (random() % 8 == 0 ? 1 + random() % 9 : 1) + random() % 2 * 1'000;
      whole.at_us.push_back(at_us);
      column.present.push_back(random() % 9 != 0);
      const auto value = static_cast<std::int64_t>(random() % 200'000) - 100'000;
      column.values.push_back(column.present.back() ? value : 0);
    }
    Chart samples(500'000, 500'000), bins(500'000, 500'000);
    samples.Add("n1", whole);
    for (std::size_t row = 0; row < whole.at_us.size(); ++row) {
      bins.Add("n1", {.at_us = {whole.at_us[row]},
                      .series = whole.series,
                      .columns = {{scale, {column.values[row]}, {column.present[row]}}}});
    }
    for (const bool runs : {false, true}) {
      EXPECT_EQ(SeriesOf(samples, {.runs = runs}), SeriesOf(bins, {.runs = runs})) << decimals;
    }
    Chart fold(500'000, 500'000), fold_of_bins(500'000, 500'000);
    fold.AddFolded(samples);
    fold_of_bins.AddFolded(bins);
    EXPECT_EQ(SeriesOf(fold), SeriesOf(fold_of_bins));
  }
}

TEST(Chart, ASeriesWithoutAnyValueIsNotDrawn) {
  Chart chart(10, 10);
  chart.Add("n1",
            {.at_us = {10, 20}, .series = {{"load_1m", ""}}, .columns = {{0, {0, 0}, {0, 0}}}});
  EXPECT_TRUE(SeriesOf(chart).empty());
}

TEST(Chart, OnlyTheValuesThatAreWantedAreWritten) {
  const Column values{.scale = 0, .values = {1, 3}, .present = {}};
  for (const std::int64_t bin_us : {10, 100}) {  // a sample each, and one bin of both
    Chart chart(bin_us, 10);
    chart.Add("n1", {.at_us = {100, 110}, .series = {{"load_1m", ""}}, .columns = {values}});
    const Json all = SeriesOf(chart)[0];
    const Json means = SeriesOf(chart, {.least = false, .most = false})[0];
    const Json most = SeriesOf(chart, {.least = false, .mean = false})[0];
    EXPECT_EQ(means["mean"], all["mean"]);
    EXPECT_EQ(most["max"], all["max"]);
    EXPECT_FALSE(means.contains("min") || means.contains("max"));
    EXPECT_FALSE(most.contains("min") || most.contains("mean"));
  }
}

}  // namespace
}  // namespace stepscope

#include <algorithm>
#include <random>

#include "tests/server/api/charts/sampled_job.h"

namespace stepscope {
namespace {

class PercentilesTest : public SampledJobTest {
 protected:
  Json Ask(const std::string& query = "") {
    return service_.GetJson("/api/v1/jobs/mlp/percentiles" + query);
  }
  static std::vector<double> Noise(std::size_t count) {
    std::mt19937 dice(5);
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(double(dice() % 10'000) / 100);
    return values;
  }
  // A percentile of values[from..to), by nearest rank; the share in percent.
  static double Naive(const std::vector<double>& values, std::size_t from, std::size_t to,
                      std::size_t share) {
    std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(from),
                             values.begin() + static_cast<std::ptrdiff_t>(to));
    std::ranges::sort(part);
    return part[(part.size() * share + 99) / 100 - 1];
  }
};

TEST_F(PercentilesTest, EachEntryIsOfTheWindowThatEndsThere) {
  const std::vector<double> values = Noise(1'000);
  Sample("n1", "0", kStartUs, values);
  const Json series = Ask("?window=100&points=4000")["series"][0];
  ASSERT_EQ(series["times_us"].size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(series["times_us"][i], kStartUs + static_cast<std::int64_t>(i) * kTickUs);
    const std::size_t from = i < 100 ? 0 : i - 99;
    EXPECT_DOUBLE_EQ(series["p5"][i], Naive(values, from, i + 1, 5)) << i;
    EXPECT_DOUBLE_EQ(series["p50"][i], Naive(values, from, i + 1, 50)) << i;
    EXPECT_DOUBLE_EQ(series["p95"][i], Naive(values, from, i + 1, 95)) << i;
  }
}

TEST_F(PercentilesTest, WindowsReachBackBeforeTheRange) {
  Sample("n1", "0", kStartUs, Noise(1'000));
  const std::string from = "from_us=" + std::to_string(kStartUs + 400 * kTickUs);
  const Json whole = Ask("?points=4000")["series"][0], part = Ask("?" + from)["series"][0];
  EXPECT_EQ(part["times_us"].size(), 300U);
  EXPECT_EQ(part["p50"].back(), whole["p50"].back());
  const Json all = Ask("?points=4000&" + from)["series"][0];
  EXPECT_EQ(all["times_us"].size(), 600U);
  EXPECT_EQ(all["p5"][0], whole["p5"][400]);
}

TEST_F(PercentilesTest, WithoutAWindowTheRangeIsOneEntry) {
  const std::vector<double> values = Noise(300);
  Sample("n1", "0", kStartUs, values);
  const Json series = Ask("?window=0")["series"][0];
  EXPECT_EQ(series["times_us"], Json({kStartUs + 299 * kTickUs}));
  EXPECT_EQ(series["p5"], Json({Naive(values, 0, 300, 5)}));
  EXPECT_EQ(series["p50"], Json({Naive(values, 0, 300, 50)}));
  EXPECT_EQ(series["p95"], Json({Naive(values, 0, 300, 95)}));
}

TEST_F(PercentilesTest, AGapIsOneEmptyEntry) {
  Sample("n1", "0", kStartUs, {1, 2});
  Sample("n1", "0", kStartUs + 20 * kTickUs, {3});
  const Json series = Ask()["series"][0];
  EXPECT_EQ(series["p50"], Json({1.0, 1.0, nullptr, 2.0}));
  EXPECT_EQ(series["times_us"],
            Json({kStartUs, kStartUs + kTickUs, kStartUs + 2 * kTickUs, kStartUs + 20 * kTickUs}));
}

TEST_F(PercentilesTest, SeriesStandInOrderAndCanBeChosen) {
  Sample("n2", "0", kStartUs, {1});
  Sample("n1", "1", kStartUs, {2});
  Sample("n1", "0", kStartUs, {3.25});
  const Json all = Ask()["series"];
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["p95"], Json({3.25}));
  EXPECT_EQ(all[1]["device"], "1");
  EXPECT_EQ(all[2]["node"], "n2");
  EXPECT_EQ(Ask("?node=n1&device=1")["series"].size(), 1U);
  EXPECT_EQ(Ask("?metric=node_cpu_percent")["series"], Json::array());
  EXPECT_EQ(Ask("?from_us=1&to_us=2")["series"], Json::array());
}

TEST_F(PercentilesTest, WrongQueriesAreRefusedByName) {
  for (const std::string query : {"metric=nope", "node=other", "window=-1", "window=65001",
                                  "points=0", "points=8001", "from_us=2&to_us=1", "bins=3"}) {
    const std::string answer = service_.Get("/api/v1/jobs/mlp/percentiles?" + query);
    EXPECT_EQ(StatusOf(answer), 400) << query << answer;
    EXPECT_EQ(ApiService::JsonOf(answer)["code"], "invalid-parameter");
  }
  ExpectProblem(service_.Get("/api/v1/jobs/none/percentiles"), 404, "not-found");
}

TEST_F(PercentilesTest, MoreSeriesThanAllowedAreRefusedWithTheWayOut) {
  Json series = Json::array();
  for (int i = 0; i <= 2'000; ++i) {
    series.push_back({{"metric", "user.a"}, {"device", std::to_string(i)}, {"values", {1}}});
  }
  const Json body = {{"node", "n1"}, {"times_us", {kStartUs}}, {"series", series}};
  ASSERT_EQ(StatusOf(service_.Post("/api/v1/jobs/mlp/samples", Dump(body))), 200);
  ExpectProblem(service_.Get("/api/v1/jobs/mlp/percentiles"), 400, "invalid-parameter",
                "choose metrics, a node or a device");
  EXPECT_EQ(Ask("?device=7")["series"].size(), 1U);
}

TEST_F(PercentilesTest, AJobWithoutSamplesHasNoSeries) {
  EXPECT_EQ(Ask()["series"], Json::array());
  EXPECT_EQ(Ask()["window"], 500);
}

}  // namespace
}  // namespace stepscope

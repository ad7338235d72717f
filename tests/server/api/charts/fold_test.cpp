// GET /jobs/{name}/metrics?fold=metric: one series for each metric.

#include <map>

#include "core/base/text.h"
#include "server/compact/compact_node.h"
#include "server/store/jobs/jobs.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

struct FoldedBin {
  double least = 1e300, most = -1e300, sum = 0;
  int count = 0;
};

// The fold that a reader of every series would make.
std::map<std::int64_t, FoldedBin> ByHand(const Json& list) {
  std::map<std::int64_t, FoldedBin> bins;
  for (const Json& series : list) {
    for (std::size_t i = 0; i < series["times_us"].size(); ++i) {
      if (series["mean"][i].is_null()) continue;
      FoldedBin& bin = bins[series["times_us"][i].get<std::int64_t>()];
      bin.least = std::min(bin.least, series["min"][i].get<double>());
      bin.most = std::max(bin.most, series["max"][i].get<double>());
      bin.sum += series["mean"][i].get<double>();
      ++bin.count;
    }
  }
  return bins;
}

class FoldTest : public ApiTest {
 protected:
  void Start() {
    for (TestAgent* agent : {&one_, &two_}) Push(agent->Started(kStartUs));
  }
  // Stores a sample each 500 ms, in tenths of a percent from `first` on.
  void Sample(TestAgent& agent, std::int64_t from_us, int count, double first) {
    std::vector<std::int64_t> at_us;
    std::vector<double> percent;
    for (int tick = 0; tick < count; ++tick) {
      at_us.push_back(from_us + tick * 500'000);
      percent.push_back(first + tick % 100 / 10.0);
      if (at_us.size() < 600 && tick + 1 < count) continue;
      Push(agent.Ticks(at_us, percent));
      at_us.clear();
      percent.clear();
    }
  }
  void Compact() {
    const auto connection = service_.database().Connect();
    const std::int64_t job_id = FindJob(*connection, "mlp")->job_id;
    for (const NodeRow& node : *ListNodes(*connection, job_id)) {
      ASSERT_TRUE(CompactNode(*connection, job_id, node.node_id));
    }
  }
  // Stores two samples of so many devices: its number, and 1.
  void PostDevices(int count, std::int64_t one_us, std::int64_t other_us) {
    Json series = Json::array();
    for (int i = 0; i < count; ++i) {
      series.push_back({{"metric", "user.loss"}, {"device", Format("d{}", i)}, {"values", {i, 1}}});
    }
    const Json body = {{"node", "n1"}, {"times_us", {one_us, other_us}}, {"series", series}};
    EXPECT_EQ(StatusOf(service_.Post("/api/v1/jobs/mlp/samples", Dump(body))), 200);
  }
  Json Ask(const std::string& query) {
    return service_.GetJson("/api/v1/jobs/mlp/metrics?" + query);
  }
  void ExpectFolded(const std::string& query, std::size_t series) {
    SCOPED_TRACE(query);
    const Json each = Ask(query), answer = Ask(query + "&fold=metric");
    EXPECT_EQ(each["cursor"], answer["cursor"]);
    ASSERT_EQ(each["series"].size(), series);
    ASSERT_EQ(answer["series"].size(), 1U);
    const Json& fold = answer["series"][0];
    EXPECT_EQ(fold["node"].get<std::string>() + fold["device"].get<std::string>(), "");
    EXPECT_EQ(fold["of"], series);
    auto bins = ByHand(each["series"]);
    for (std::size_t i = 0; i < fold["times_us"].size(); ++i) {
      if (fold["mean"][i].is_null()) continue;
      const auto bin = bins.extract(fold["times_us"][i].get<std::int64_t>());
      ASSERT_FALSE(bin.empty()) << i;
      EXPECT_EQ(fold["min"][i], bin.mapped().least) << i;
      EXPECT_EQ(fold["max"][i], bin.mapped().most) << i;
      EXPECT_NEAR(fold["sum"][i].get<double>(), bin.mapped().sum, 2e-4) << i;
      EXPECT_NEAR(fold["mean"][i].get<double>(), bin.mapped().sum / bin.mapped().count, 2e-4) << i;
    }
    EXPECT_TRUE(bins.empty());
  }

  TestAgent one_{"mlp", "host-1"}, two_{"mlp", "host-2"};
};

TEST_F(FoldTest, SamplesAreFoldedAsByHand) {
  Start();
  Sample(one_, kStartUs, 40, 10);
  Sample(two_, kStartUs + 5 * kSecondUs, 40, 70);
  for (const std::string query : {"points=8000", "points=7", "points=3"}) ExpectFolded(query, 2);
  ExpectFolded("node=host-2", 1);
  const Json fold = Ask("points=1&fold=metric")["series"][0];
  EXPECT_EQ(fold["metric"], "node_cpu_percent");
  EXPECT_EQ(fold["unit"], "%");
}

TEST_F(FoldTest, RollupsAreFoldedAsByHand) {
  Start();
  Sample(one_, kStartUs, 3'600, 10);
  Sample(two_, kStartUs, 2'400, 70);
  Compact();
  Sample(two_, kStartUs + 1'200 * kSecondUs, 1'000, 30);
  ExpectFolded("points=180", 2);
  EXPECT_EQ(Ask("points=180&fold=metric")["bin_us"], 10'000'000);
}

// The second node comes with the last third of a bin: what they have together is told of the bin as
// a whole.
TEST_F(FoldTest, WideBinsShowWhatSeriesHaveTogetherOnTheAverage) {
  Start();
  const std::int64_t begin_us = kStartUs - kStartUs % (30 * kSecondUs);
  const std::vector<double> ten(20, 10), forty(20, 40);
  const auto times = [&](int second) {
    std::vector<std::int64_t> at_us;
    for (int i = 0; i < 20; ++i) at_us.push_back(begin_us + second * kSecondUs + i * 500'000);
    return at_us;
  };
  for (const int second : {0, 10, 20}) Push(one_.Ticks(times(second), ten));
  Push(two_.Ticks(times(20), forty));
  const Json fold = Ask("points=1&fold=metric")["series"][0];
  EXPECT_EQ(fold["sum"], Json({23.3333})) << "of 10, 10 and 50";
  EXPECT_EQ(fold["mean"], Json({17.5})) << "of 10, 10, 10 and 40";
  EXPECT_EQ(fold["max"], Json({40.0}));
  EXPECT_EQ(fold["of"], 2);
}

TEST_F(FoldTest, AMeanCountsEachSeriesOnce) {
  Start();
  Sample(one_, kStartUs, 1, 10);
  Push(two_.Ticks({kStartUs, kStartUs + 500'000, kStartUs + 1'500'000}, {40, 50, 60}));
  const Json fold = Ask("points=1&fold=metric")["series"][0];
  EXPECT_EQ(fold["min"], Json({10.0}));
  EXPECT_EQ(fold["mean"], Json({30.0}));
  EXPECT_EQ(fold["max"], Json({60.0}));
  EXPECT_EQ(fold["sum"], Json({60.0}));
}

TEST_F(FoldTest, AGapIsWhereNoSeriesWasMeasured) {
  Start();
  Push(one_.Ticks({kStartUs, kStartUs + 500'000, kStartUs + 10 * kSecondUs}, {10, 10, 10}));
  const auto sums = [&] { return Ask("fold=metric")["series"][0]["sum"]; };
  EXPECT_EQ(sums(), Json({10.0, 10.0, nullptr, 10.0}));
  Sample(two_, kStartUs, 21, 70);
  EXPECT_EQ(sums().size(), 21U);
  EXPECT_EQ(sums()[2], 70.2);
  EXPECT_EQ(sums()[20], 82.0);
}

TEST_F(FoldTest, FollowingWithTheCursorGoesOnInTheSameBins) {
  Start();
  for (TestAgent* agent : {&one_, &two_}) Sample(*agent, kStartUs, 100, 10);
  const Json first = Ask("points=10&fold=metric");
  for (TestAgent* agent : {&one_, &two_}) Sample(*agent, kStartUs + 50 * kSecondUs, 20, 20);
  const std::string since = "since=" + first["cursor"].get<std::string>();
  ExpectFolded(since, 2);
  const Json next = Ask(since + "&fold=metric");
  EXPECT_EQ(next["bin_us"], first["bin_us"]);
  EXPECT_EQ(next["series"][0]["times_us"][0], first["series"][0]["times_us"].back());
}

TEST_F(FoldTest, MoreSeriesThanAreWrittenOneByOneAreFolded) {
  Create("mlp");
  PostDevices(3'000, kStartUs, kStartUs + kSecondUs);
  ExpectProblem(service_.Get("/api/v1/jobs/mlp/metrics"), 400, "invalid-parameter", "2000 series");
  const Json fold = Ask("fold=metric")["series"][0];
  EXPECT_EQ(fold["of"], 3'000);
  EXPECT_EQ(fold["max"], Json({2'999.0, 1.0}));
  EXPECT_EQ(fold["sum"], Json({4'498'500.0, 3'000.0}));
}

TEST_F(FoldTest, ThatDevicesAreTooManyForRollupsIsSaid) {
  Create("mlp");
  PostDevices(3'000, kStartUs, kStartUs + kSecondUs);
  const std::string chart =
      "/api/v1/jobs/mlp/metrics?metric=user.loss&points=360&from_us=" + std::to_string(kStartUs) +
      "&to_us=" + std::to_string(kStartUs + 3'600 * kSecondUs - 1);
  const std::string one = "&device=d7", folded = "&fold=metric";
  for (const std::string& of : {one, folded}) {
    EXPECT_EQ(service_.GetJson(chart + of)["series"].size(), 1U) << "not compacted yet";
  }
  Compact();
  for (const std::string& of : {one, folded}) {
    ExpectProblem(service_.Get(chart + of), 400, "invalid-parameter",
                  "user.loss has too many devices on a node");
  }
  EXPECT_EQ(Ask("metric=user.loss&device=d7")["series"].size(), 1U) << "its samples are there";
  EXPECT_EQ(Ask("metric=user.other&fold=metric&points=1")["series"].size(), 0U);
  const std::string later =
      "metric=user.loss&fold=metric&points=1&from_us=" + std::to_string(kStartUs + 20 * kSecondUs) +
      "&to_us=" + std::to_string(kStartUs + 60 * kSecondUs);
  EXPECT_EQ(Ask(later)["series"].size(), 0U) << "there was nothing";
}

TEST_F(FoldTest, ADeviceThatIsNotThereIsNotOneTooMany) {
  Create("mlp");
  PostDevices(3, kStartUs, kStartUs + 60 * kSecondUs);
  Compact();
  EXPECT_EQ(Ask("metric=user.loss&device=d7&points=1")["series"].size(), 0U);
}

// A thousand bins of each series would be 64 MB.
TEST_F(FoldTest, MoreBinsThanMemoryIsMeantForAreRefused) {
  Create("mlp");
  PostDevices(1'000, kStartUs, kStartUs + 499 * kSecondUs);
  for (const std::string fold : {"", "&fold=metric"}) {
    ExpectProblem(service_.Get("/api/v1/jobs/mlp/metrics?points=1000" + fold), 400,
                  "invalid-parameter", "wider bins");
    EXPECT_EQ(StatusOf(service_.Get("/api/v1/jobs/mlp/metrics?points=500" + fold)), 200);
  }
  const std::string map = "/api/v1/jobs/mlp/heatmap?metric=user.loss&columns=";
  ExpectProblem(service_.Get(map + "1000"), 400, "invalid-parameter", "wider bins");
  EXPECT_EQ(StatusOf(service_.Get(map + "500")), 200);
}

// A page that was hidden for a night has to learn that it must begin anew.
TEST_F(FoldTest, WhoFollowsAndCameTooLateIsTold) {
  Create("mlp");
  PostDevices(1'000, kStartUs, kStartUs + kSecondUs);
  const std::string since =
      "/api/v1/jobs/mlp/metrics?since=" + Ask("")["cursor"].get<std::string>();
  EXPECT_EQ(StatusOf(service_.Get(since)), 200);
  PostDevices(1'000, kStartUs + 1'000 * kSecondUs, kStartUs + 1'001 * kSecondUs);
  ExpectProblem(service_.Get(since), 400, "invalid-parameter", "since: is too old");
}

TEST_F(FoldTest, OnlyMetricsCanBeFoldedOver) {
  Start();
  for (const std::string query : {"fold=other", "fold=", "fold=metric,node"}) {
    ExpectProblem(service_.Get("/api/v1/jobs/mlp/metrics?" + query), 400, "invalid-parameter",
                  "fold");
  }
  EXPECT_EQ(Ask("fold=metric")["series"], Json::array());
  Sample(one_, kStartUs, 2, 10);
  EXPECT_FALSE(Ask("points=5")["series"][0].contains("of"));
}

}  // namespace
}  // namespace stepscope

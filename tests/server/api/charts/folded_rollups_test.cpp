// Folded charts do not depend on what was compacted and folded already.

#include <atomic>
#include <thread>

#include "core/base/text.h"
#include "server/api/charts/chart_data.h"
#include "server/compact/fold_job.h"
#include "server/store/jobs/jobs.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

constexpr std::int64_t kFoldedTickUs = 500'000;
constexpr int kTicksOfBin = 20;
constexpr std::int64_t kBinUs = kTicksOfBin * kFoldedTickUs;
constexpr std::int64_t kBeginUs = kStartUs - kStartUs % kBinUs;

class FoldedRollupsTest : public ApiTest {
 protected:
  FoldedRollupsTest() {
    for (TestAgent* agent : {&one_, &two_}) Push(agent->Started(kStartUs));
    job_id_ = FindJob(*service_.database().Connect(), "mlp")->job_id;
  }
  // In each bin of 10 s a node has `more` + 0 to 19 %: another mean as soon as some are missing, or
  // twice there.
  void Sample(TestAgent& agent, int first, int ticks, double more) {
    std::vector<std::int64_t> at_us;
    std::vector<double> percent;
    for (int tick = first; tick < first + ticks; ++tick) {
      at_us.push_back(kBeginUs + tick * kFoldedTickUs);
      percent.push_back(more + tick % kTicksOfBin);
      if (at_us.size() < 600 && tick + 1 < first + ticks) continue;
      Push(agent.Ticks(at_us, percent));
      at_us.clear();
      percent.clear();
    }
  }
  void Compact(Connection& connection) {
    for (const NodeRow& node : *ListNodes(connection, job_id_)) {
      ASSERT_TRUE(CompactNode(connection, job_id_, node.node_id));
    }
  }
  void Fold(Connection& connection) {
    for (bool more = true; more;) {
      const Result<Compacted> done = FoldSome(connection, job_id_, 1);
      ASSERT_TRUE(done) << done.error().message;
      more = done->more;
    }
  }
  Json Ask(const std::string& query) {
    return service_.GetJson("/api/v1/jobs/mlp/metrics?fold=metric&" + query);
  }
  // Compares bins of each level, and several bins joined.
  std::vector<Json> Answers() {
    std::vector<Json> answers;
    for (const std::string query : {"points=500", "points=100", "points=20", "points=4",
                                    "node=host-1&points=100", "device=&points=100"}) {
      answers.push_back(Ask(query)["series"]);
    }
    return answers;
  }

  TestAgent one_{"mlp", "host-1"}, two_{"mlp", "host-2"};
  std::int64_t job_id_ = 0;
};

void ExpectNearBins(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    EXPECT_NEAR(a.get<double>(), b.get<double>(), 2e-4);
    return;
  }
  ASSERT_EQ(a.type(), b.type());
  ASSERT_EQ(a.size(), b.size());
  if (!a.is_structured()) {
    EXPECT_EQ(a, b);
  }
  auto other = b.begin();
  for (auto one = a.begin(); a.is_structured() && one != a.end(); ++one)
    ExpectNearBins(*one, *other++);
}

TEST_F(FoldedRollupsTest, AnswersStayTheSame) {
  const auto connection = service_.database().Connect();
  for (int first = 0; first < 9'000; first += 600) {
    Sample(one_, first, 600, 10);
    if (first < 6'000) Sample(two_, first, 590, 50);  // with gaps
  }
  const std::vector<Json> fresh = Answers();
  const auto expect_same = [&](const char* when) {
    SCOPED_TRACE(when);
    const std::vector<Json> now = Answers();
    for (std::size_t i = 0; i < now.size(); ++i) ExpectNearBins(fresh[i], now[i]);
  };
  Compact(*connection);
  expect_same("compacted");
  Fold(*connection);
  expect_same("folded");
  ASSERT_TRUE(
      connection->Execute("update job_rollups set stale = true where metric = "
                          "'node_cpu_percent' and chunk_us % 7200000000 = 0"));
  expect_same("some stale");
}

// Chunks are folded one after the other: chunks in rollups, in frames, and in both.
TEST_F(FoldedRollupsTest, SeveralMetricsStayTheSame) {
  const auto connection = service_.database().Connect();
  const auto post = [&](const std::string& node, int first, const std::vector<std::string>& names) {
    Json times = Json::array(), values = Json::array(), series = Json::array();
    for (int tick = first; tick < first + 600; ++tick) {
      times.push_back(kBeginUs + tick * kFoldedTickUs);
      values.push_back(tick % kTicksOfBin);
    }
    for (const std::string& name : names) series.push_back({{"metric", name}, {"values", values}});
    const Json body = {{"node", node}, {"times_us", times}, {"series", series}};
    ASSERT_EQ(StatusOf(service_.Post("/api/v1/jobs/mlp/samples", Dump(body))), 200);
  };
  const auto answers = [&] {
    Json all = Json::array();
    for (const std::string which : {"", "&node=n1", "&device="}) {
      all.push_back(Ask(Format("from_us={}&to_us={}&points=60{}", kBeginUs,
                               kBeginUs + 1'200 * kFoldedTickUs - 1, which))["series"]);
    }
    return all;
  };
  post("n1", 0, {"user.B", "user.a", "user.c"});
  post("n2", 0, {"user.B", "user.c", "user.d"});
  post("n1", 600, {"user.a", "user.e"});
  post("n2", 600, {"user.a", "user.c"});
  const Json fresh = answers();
  ASSERT_EQ(fresh[0].size(), 5u);
  ASSERT_EQ(fresh[1].size(), 4u) << "of n1 alone";
  EXPECT_EQ(fresh[0][1]["metric"], "user.a");
  EXPECT_EQ(fresh[0][1]["sum"].front(), 9.5) << "of n1 alone";
  EXPECT_EQ(fresh[0][1]["sum"].back(), 19.0) << "of both";
  for (const NodeRow& node : *ListNodes(*connection, job_id_)) {
    if (node.name != "n2") continue;
    ASSERT_TRUE(CompactNode(*connection, job_id_, node.node_id));
  }
  ExpectNearBins(fresh, answers());
  Fold(*connection);
  ExpectNearBins(fresh, answers());
  Compact(*connection);
  ExpectNearBins(fresh, answers());
  Fold(*connection);
  ExpectNearBins(fresh, answers());
}

// Each series of a long range takes memory; series after the first too many are not drawn.
TEST_F(FoldedRollupsTest, TooManySeriesOneByOneAreRefusedAtTheFirstTooMany) {
  TestAgent three("mlp", "host-3"), four("mlp", "host-4");
  for (TestAgent* agent : {&three, &four}) Push(agent->Started(kStartUs));
  for (TestAgent* agent : {&one_, &two_, &three, &four}) Sample(*agent, 0, 200, 10);
  const auto connection = service_.database().Connect();
  Compact(*connection);
  ChartQuery query{.job_id = job_id_,
                   .nodes = {},
                   .from_us = kBeginUs,
                   .to_us = kBeginUs + 10 * kBinUs,
                   .bin_us = kBinUs,
                   .filter = {},
                   .most_series = 2};
  for (const NodeRow& node : *ListNodes(*connection, job_id_)) {
    query.nodes.push_back({.node_id = node.node_id, .name = node.name});
  }
  Chart chart(kBinUs, kFoldedTickUs);
  const Status filled = FillChart(*connection, query, chart);
  ASSERT_FALSE(filled);
  EXPECT_EQ(filled.error().code, Code::kInvalid);
  EXPECT_EQ(chart.series(), 3u);
}

TEST_F(FoldedRollupsTest, AreReadInPlaceOfTheNodes) {
  const auto connection = service_.database().Connect();
  for (TestAgent* agent : {&one_, &two_}) Sample(*agent, 0, 2'000, 10);
  Compact(*connection);
  Fold(*connection);
  const Json folded = Ask("points=100")["series"];
  ASSERT_TRUE(connection->Execute("delete from rollups"));
  EXPECT_EQ(Ask("points=100")["series"], folded);
  EXPECT_EQ(Ask("points=100&node=host-1")["series"], Json::array());
}

TEST_F(FoldedRollupsTest, WhatIsFreshCountsWithItsBin) {
  const auto connection = service_.database().Connect();
  Sample(one_, 0, 2'000, 10);
  Sample(two_, 0, 1'990, 50);
  Compact(*connection);
  Fold(*connection);
  Sample(one_, 2'000, 15, 10);
  Sample(two_, 1'990, 25, 50);
  const Json before = Ask("points=100")["series"];
  Compact(*connection);
  ExpectNearBins(before, Ask("points=100")["series"]);
  Fold(*connection);
  ExpectNearBins(before, Ask("points=100")["series"]);
}

TEST_F(FoldedRollupsTest, ARowThatCannotBeReadIsAnErrorAndNoCrash) {
  const auto connection = service_.database().Connect();
  Sample(one_, 0, 2'000, 10);
  Compact(*connection);
  Fold(*connection);
  ASSERT_TRUE(connection->Execute("update job_rollups set payload = 'broken'"));
  EXPECT_EQ(StatusOf(service_.Get("/api/v1/jobs/mlp/metrics?points=100&fold=metric")), 500);
  EXPECT_EQ(StatusOf(service_.Get("/api/v1/jobs/mlp/metrics?points=100")), 200);
}

// The table of usage counts what both nodes have sent; each column of a heat map has the mean of a
// whole bin, whatever lies in frames and whatever in blocks.
TEST_F(FoldedRollupsTest, WhoReadsUsageAndHeatMapMeanwhileSeesEachSampleOnce) {
  constexpr int kTicks = 1'800, kPush = 12;
  std::atomic<int> stored = 600;
  for (TestAgent* agent : {&one_, &two_}) Sample(*agent, 0, 600, 10);
  std::jthread compactor([&](const std::stop_token& stop) {
    const auto own = service_.database().Connect();
    while (!stop.stop_requested()) Compact(*own);
  });
  std::jthread writer([&] {
    for (int first = 600; first < kTicks; first += kPush) {
      for (TestAgent* agent : {&one_, &two_}) Sample(*agent, first, kPush, 10);
      stored = first + kPush;
    }
  });
  while (stored < kTicks) {
    const int ticks = stored - stored % kTicksOfBin;
    const std::string range =
        Format("from_us={}&to_us={}", kBeginUs, kBeginUs + ticks * kFoldedTickUs - 1);
    const Json usage = service_.GetJson("/api/v1/jobs/mlp/usage?" + range)["rows"];
    ASSERT_EQ(usage.size(), 2u);
    for (const Json& row : usage) ASSERT_EQ(row["count"], ticks) << row;
    const Json map =
        service_.GetJson(Format("/api/v1/jobs/mlp/heatmap?metric=node_cpu_percent&columns={}&{}",
                                ticks / kTicksOfBin, range));
    ASSERT_EQ(map["bin_us"], kBinUs);
    ASSERT_EQ(map["rows"].size(), 2u);
    ASSERT_EQ(map["low"], 19.5);
    ASSERT_EQ(map["high"], 19.5);
  }
  writer.join();
  compactor.request_stop();
}

// A push holds 6 s, so nearly every bin is in two frames.
TEST_F(FoldedRollupsTest, WhoReadsMeanwhileSeesEachSampleOnce) {
  constexpr int kTicks = 2'400, kPush = 12;
  std::atomic<int> stored = 600;
  for (TestAgent* agent : {&one_, &two_}) Sample(*agent, 0, 600, 10);
  std::jthread compactor([&](const std::stop_token& stop) {
    const auto own = service_.database().Connect();
    while (!stop.stop_requested()) {
      Compact(*own);
      Fold(*own);
    }
  });
  std::jthread writer([&] {
    for (int first = 600; first < kTicks; first += kPush) {
      for (TestAgent* agent : {&one_, &two_}) Sample(*agent, first, kPush, 10);
      stored = first + kPush;
    }
  });
  while (stored < kTicks) {
    const std::int64_t until_us = kBeginUs + stored * kFoldedTickUs;
    const Json fold = Ask(Format("points=100&from_us={}&to_us={}", kBeginUs,
                                 kBeginUs + 3'000 * kFoldedTickUs))["series"][0];
    for (std::size_t i = 0; i < fold["times_us"].size(); ++i) {
      const std::int64_t at_us = fold["times_us"][i].get<std::int64_t>();
      if (at_us + 2 * kBinUs > until_us) break;
      ASSERT_EQ(fold["mean"][i], 19.5) << i;
      ASSERT_EQ(fold["sum"][i], 39.0) << i;
    }
  }
  writer.join();
  compactor.request_stop();
}

}  // namespace
}  // namespace stepscope

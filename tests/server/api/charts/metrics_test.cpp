#include <map>

#include "core/base/text.h"
#include "server/api/charts/chart_grid.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class MetricsTest : public ApiTest {
 protected:
  MetricsTest() { Push(agent_.Started(kStartUs)); }

  // Stores samples 500 ms apart, from a time on.
  void Sample(std::int64_t from_us, std::size_t count, double percent) {
    std::vector<std::int64_t> at_us;
    for (std::size_t tick = 0; tick < count; ++tick) {
      at_us.push_back(from_us + static_cast<std::int64_t>(tick) * 500'000);
    }
    Push(agent_.Ticks(at_us, std::vector<double>(count, percent)));
  }
  Json Ask(const std::string& query = "") {
    return service_.GetJson("/api/v1/jobs/mlp/metrics" + query);
  }

  TestAgent agent_{"mlp"};
};

TEST_F(MetricsTest, EachSampleIsABinWhenThereIsRoom) {
  Sample(kStartUs, 4, 25.5);
  const Json answer = Ask();
  EXPECT_EQ(answer["bin_us"], 500'000);
  EXPECT_EQ(answer["interval_ms"], 500);
  const Json& series = answer["series"][0];
  EXPECT_EQ(series["metric"], "node_cpu_percent");
  EXPECT_EQ(series["unit"], "%");
  EXPECT_EQ(series["mean"], Json({25.5, 25.5, 25.5, 25.5}));
  EXPECT_EQ(series["times_us"][3], kStartUs + 1'500'000);
  EXPECT_EQ(answer["agents"][0]["node"], "host-1");
}

TEST_F(MetricsTest, BinsHaveLeastMeanAndGreatest) {
  Sample(kStartUs, 2, 10);
  Sample(kStartUs + kSecondUs, 2, 30);
  const Json series = Ask("?points=1")["series"][0];
  EXPECT_EQ(series["min"], Json({10.0}));
  EXPECT_EQ(series["mean"], Json({20.0}));
  EXPECT_EQ(series["max"], Json({30.0}));
}

TEST_F(MetricsTest, RunsAndValuesSayLess) {
  Sample(kStartUs, 4, 25.5);
  const Json series = Ask("?times=runs&values=mean")["series"][0];
  EXPECT_EQ(series["runs"], Json::array({Json::array({kStartUs, 4})}));
  EXPECT_EQ(series["mean"], Json({25.5, 25.5, 25.5, 25.5}));
  EXPECT_FALSE(series.contains("min") || series.contains("max") || series.contains("times_us"));
  EXPECT_EQ(Ask("?times=each&values=max,min,mean"), Ask());
}

TEST_F(MetricsTest, BinsAreRowsOfATableAndUnknownMetricsAreHintedAt) {
  Sample(kStartUs, 1, 10);
  Sample(kStartUs + kSecondUs, 1, 30.5);
  const auto csv = [&](const std::string& query) {
    return BodyOf(service_.Get("/api/v1/jobs/mlp/metrics?format=csv" + query));
  };
  const std::string head = "metric,node,device,unit,time,time_us,min,mean,max,sum\r\n";
  EXPECT_EQ(csv(""), head +
                         "node_cpu_percent,host-1,,%,2026-11-20T20:13:34.000000Z,"
                         "1795205614000000,10,10,10,\r\n"
                         "node_cpu_percent,host-1,,%,2026-11-20T20:13:35.000000Z,"
                         "1795205615000000,30.5,30.5,30.5,\r\n");
  EXPECT_NE(csv("&values=mean").find(",,10,,\r\n"), std::string::npos) << csv("&values=mean");
  ExpectProblem(service_.Get("/api/v1/jobs/mlp/metrics?metric=cpu"), 400, "invalid-parameter",
                "there is no metric 'cpu'; did you mean node_cpu_percent, node_cpu_clock_mhz or "
                "cpu_util_percent? /api/v1/metrics-catalog lists them");
}

TEST_F(MetricsTest, AnotherWordForTimesOrValuesIsRefused) {
  for (const char* query : {"?times=all", "?times=", "?values=median", "?values=", "?values=,"}) {
    EXPECT_EQ(Ask(query)["status"], 400) << query;
  }
}

// Rollups then come without least and greatest.
TEST_F(MetricsTest, MeansAloneAreTheMeansOfAll) {
  Sample(kStartUs, 100, 10);
  Sample(kStartUs + 50 * kSecondUs, 100, 20);
  for (const char* points : {"points=1", "points=5", "points=5&fold=metric"}) {
    const Json all = Ask(std::string("?") + points)["series"][0];
    const Json means = Ask(std::string("?values=mean&") + points)["series"][0];
    EXPECT_EQ(means["mean"], all["mean"]) << points;
    EXPECT_EQ(means["times_us"], all["times_us"]) << points;
  }
}

// From the second time on the service expects such a chart to read what the remembered head says.
TEST_F(MetricsTest, ARememberedHeadThatIsWrongChangesNoAnswer) {
  const std::string of_node =
      Format("?node=host-1&from_us={}&to_us={}", kStartUs, kStartUs + 10 * kSecondUs);
  const auto values = [&] { return Ask(of_node)["series"][0]["mean"].size(); };
  for (std::size_t count = 1; count <= 5; ++count) {
    Sample(kStartUs + static_cast<std::int64_t>(count) * kSecondUs, 1, 10);
    EXPECT_EQ(values(), count);
    EXPECT_EQ(values(), count);
  }
  EXPECT_EQ(Ask("?node=host-2" + of_node.substr(12))["status"], 400);
  EXPECT_EQ(values(), 5u);
  const auto connection = service_.database().Connect();
  // The node has another number: the ticks that are expected are of the one before.
  ASSERT_TRUE(connection->Execute("update nodes set node_id = default"));
  EXPECT_EQ(values(), 0u);
  ASSERT_TRUE(connection->Execute("update frames set node_id = (select node_id from nodes)"));
  EXPECT_EQ(values(), 5u);
  ASSERT_TRUE(connection->Execute("delete from nodes"));
  EXPECT_EQ(Ask(of_node)["status"], 400);
  ASSERT_TRUE(connection->Execute("delete from jobs"));
  EXPECT_EQ(Ask(of_node)["status"], 404);
}

// Each message to PostgreSQL is a transaction of its own: views note the transactions that read
// them.
TEST_F(MetricsTest, AChartOfAKnownJobIsOneRoundTrip) {
  Sample(kStartUs, 3, 10);
  const auto connection = service_.database().Connect();
  ASSERT_TRUE(connection->Execute(R"(
create table trips (transaction xid8 unique);
create function note() returns boolean language plpgsql volatile as $$
begin
    insert into trips values (pg_current_xact_id()) on conflict do nothing;
    return true;
end $$;
alter table frames rename to stored_frames;
create view frames as select * from stored_frames where note();
alter table jobs rename to stored_jobs;
create view jobs as select * from stored_jobs where note();)"));
  const std::string query =
      Format("?node=host-1&from_us={}&to_us={}", kStartUs, kStartUs + 10 * kSecondUs);
  const auto trips = [&] {
    EXPECT_TRUE(connection->Execute("delete from trips"));
    EXPECT_EQ(Ask(query)["series"][0]["mean"].size(), 3u);
    return connection->Query("select count(*) from trips")->Int(0, 0);
  };
  EXPECT_EQ(trips(), 2);
  // A session prepares both statements first.
  for (int time = 0; time < 20 && trips() > 1; ++time) continue;
  EXPECT_EQ(trips(), 1);
  EXPECT_EQ(trips(), 1);
  // The remembered head is wrong: two round trips, once.
  ASSERT_TRUE(
      connection->Execute("update nodes set node_id = default;"
                          "update stored_frames set node_id = (select node_id from nodes)"));
  EXPECT_EQ(trips(), 2);
  EXPECT_EQ(trips(), 1);
}

// A longer range is read in batches.
TEST_F(MetricsTest, NoSampleIsLostOrCountedTwiceAtTheEndOfAStretch) {
  const std::int64_t border_us = kStartUs - 1 + 3'660 * kSecondUs;
  const std::int64_t end_us = kStartUs + 4'000 * kSecondUs;
  const std::vector<std::int64_t> times = {kStartUs,      border_us - 1, border_us,
                                           border_us + 1, border_us + 2, end_us};
  const std::vector<int> values = {1, 2, 4, 8, 16, 32};
  const Json series = {{"metric", "user.loss"}, {"values", values}};
  const Json body = {{"node", "n1"}, {"times_us", times}, {"series", {series}}};
  ASSERT_EQ(StatusOf(service_.Post("/api/v1/jobs/mlp/samples", Dump(body))), 200);
  const std::string query = Format("?metric=user.loss&node=n1&points=1000&from_us={}&to_us={}",
                                   times.front(), times.back());
  for (int time = 0; time < 4; ++time) {  // its ticks come with the head from the second time on
    const Json answer = Ask(query);
    const auto bin_us = answer["bin_us"].get<std::int64_t>();
    ASSERT_LT(bin_us, 10'000'000) << "of samples";
    std::map<std::int64_t, std::pair<double, int>> bins;
    for (std::size_t i = 0; i < times.size(); ++i) {
      auto& [sum, count] = bins[times[i] - times[i] % bin_us];
      sum += values[i];
      ++count;
    }
    const Json& drawn = answer["series"][0];
    std::size_t at = 0;
    for (const auto& [at_us, bin] : bins) {
      while (drawn["mean"][at].is_null()) ++at;
      EXPECT_EQ(drawn["times_us"][at], at_us);
      EXPECT_NEAR(drawn["mean"][at++].get<double>(), bin.first / bin.second, 1e-4);
    }
    EXPECT_EQ(at, drawn["mean"].size());
  }
}

TEST_F(MetricsTest, ACursorOfBinsThatNoAnswerHasIsRefused) {
  Sample(kStartUs, 4, 25.5);
  EXPECT_EQ(Ask("?since=" + EncodeCursor({500'000, kStartUs}))["series"].size(), 1u);
  for (const std::int64_t bin_us : std::vector<std::int64_t>{200'000'000'001, 10'000'001, 0, -1}) {
    EXPECT_EQ(Ask("?since=" + EncodeCursor({bin_us, 0}))["status"], 400) << bin_us;
  }
}

TEST_F(MetricsTest, AGapOfMoreThanTwoIntervalsIsOneNull) {
  Sample(kStartUs, 2, 10);
  Sample(kStartUs + 10 * kSecondUs, 2, 10);
  EXPECT_EQ(Ask()["series"][0]["mean"], Json({10.0, 10.0, nullptr, 10.0, 10.0}));
}

TEST_F(MetricsTest, WhatIsReadSeldomHasNoGapsForThat) {
  for (int i = 0; i < 4; ++i) Sample(kStartUs + i * 2 * kSecondUs, 1, 10);
  Sample(kStartUs + 20 * kSecondUs, 1, 30);
  EXPECT_EQ(Ask()["series"][0]["mean"], Json({10.0, 10.0, 10.0, 10.0, nullptr, 30.0}));
  const Json sliding = service_.GetJson("/api/v1/jobs/mlp/percentiles?metric=node_cpu_percent");
  EXPECT_EQ(std::ranges::count(sliding["series"][0]["p50"], Json()), 1) << sliding.dump();
}

TEST_F(MetricsTest, FollowingWithTheCursorGivesTheSameBins) {
  Sample(kStartUs, 100, 10);
  const Json first = Ask("?points=10");
  Sample(kStartUs + 50 * kSecondUs, 20, 20);
  const Json next = Ask("?since=" + first["cursor"].get<std::string>());
  const Json whole = Ask("?points=12");
  EXPECT_EQ(next["bin_us"], first["bin_us"]);
  EXPECT_EQ(next["series"][0]["times_us"][0], first["series"][0]["times_us"].back());
  EXPECT_EQ(whole["bin_us"], first["bin_us"]);
  EXPECT_EQ(next["series"][0]["mean"].back(), whole["series"][0]["mean"].back());
}

// A range of one node needs no last tick of the job.
TEST_F(MetricsTest, ARangeOfANodeIsFollowedFromItsLastSample) {
  Sample(kStartUs, 20, 10);
  const auto range = [](std::int64_t from_us, std::int64_t to_us) {
    return "?node=host-1&points=100&from_us=" + std::to_string(from_us) +
           "&to_us=" + std::to_string(to_us);
  };
  const Json first = Ask(range(kStartUs, kStartUs + 4 * kSecondUs));
  const Json next = Ask("?since=" + first["cursor"].get<std::string>());
  EXPECT_EQ(next["series"][0]["times_us"][0], first["series"][0]["times_us"].back());
  EXPECT_EQ(next["series"][0]["times_us"].size() + first["series"][0]["times_us"].size(), 21U);
  const Json later = Ask(range(kStartUs, kStartUs + 3600 * kSecondUs));
  EXPECT_EQ(Ask("?since=" + later["cursor"].get<std::string>())["series"][0]["mean"], Json({10.0}));
  const Json none = Ask(range(kStartUs + 100 * kSecondUs, kStartUs + 200 * kSecondUs));
  EXPECT_EQ(none["series"], Json::array());
  Sample(kStartUs + 100 * kSecondUs, 2, 20);
  EXPECT_EQ(Ask("?since=" + none["cursor"].get<std::string>())["series"][0]["mean"].back(), 20.0);
}

TEST_F(MetricsTest, WhoFollowsGoesOnWhereTheMetricIsSilent) {
  Sample(kStartUs, 20, 10);
  const std::string since = "&node=host-1&since=" + Ask("?points=100")["cursor"].get<std::string>();
  Sample(kStartUs + 10 * kSecondUs, 20, 10);
  const std::string to = "&to_us=" + std::to_string(kStartUs + 60 * kSecondUs);
  const Json silent = Ask("?metric=memory_used_percent" + since + to);
  EXPECT_EQ(silent["series"], Json::array());
  EXPECT_EQ(silent["cursor"], Ask("?metric=node_cpu_percent" + since)["cursor"]);
}

TEST_F(MetricsTest, RangesAndFiltersChooseSamples) {
  Sample(kStartUs, 20, 10);
  const std::string from = std::to_string(kStartUs + 2 * kSecondUs);
  const std::string to = std::to_string(kStartUs + 3 * kSecondUs);
  EXPECT_EQ(Ask("?from_us=" + from + "&to_us=" + to)["series"][0]["mean"].size(), 3U);
  EXPECT_EQ(Ask("?metric=memory_used_percent")["series"], Json::array());
  EXPECT_EQ(Ask("?metric=node_cpu_percent,memory_used_percent&node=host-1")["series"].size(), 1U);
  EXPECT_EQ(Ask("?device=0")["series"], Json::array());
}

TEST_F(MetricsTest, WrongQueriesAreRefusedByName) {
  Sample(kStartUs, 2, 10);
  for (const std::string query :
       {"metric=nope", "metric=", "node=other", "points=0", "points=8001", "from_us=-1",
        "from_us=2&to_us=1", "since=abc", "since=MTox&points=5", "to_us=1e9", "bins=3"}) {
    const std::string answer = service_.Get("/api/v1/jobs/mlp/metrics?" + query);
    EXPECT_EQ(StatusOf(answer), 400) << query << answer;
    EXPECT_EQ(ApiService::JsonOf(answer)["code"], "invalid-parameter");
  }
}

TEST_F(MetricsTest, AJobWithoutSamplesHasNoSeries) {
  EXPECT_EQ(Ask()["series"], Json::array());
  EXPECT_EQ(Ask("?since=" + Ask()["cursor"].get<std::string>())["series"], Json::array());
}

}  // namespace
}  // namespace stepscope

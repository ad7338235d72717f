#include "server/store/jobs/job_facts.h"
#include "tests/server/api/api_test.h"
#include "tests/support/job_frames.h"

namespace stepscope {
namespace {

class StepsTest : public ApiTest {
 protected:
  StepsTest() {
    Push(agent_.Started(kStartUs));
    Push(agent_.Rank(kStartUs, 0));
  }
  Json Ask(const std::string& query = "") {
    return service_.GetJson("/api/v1/jobs/mlp/steps" + query);
  }

  // The begins of the steps on all pages of so many; each but the last of `pages` is full.
  std::vector<std::int64_t> AllStarts(std::size_t limit, int pages) {
    std::vector<std::int64_t> starts;
    std::string cursor;
    for (int page = 1; page <= pages; ++page) {
      const Json answer = Ask(Format("?format=rows&limit={}{}", limit, cursor));
      for (const Json& row : answer["items"]) starts.push_back(row["start_us"]);
      EXPECT_EQ(answer["next"].is_null(), page == pages);
      if (answer["next"].is_null()) break;
      EXPECT_EQ(answer["items"].size(), limit);
      cursor = "&cursor=" + answer["next"].get<std::string>();
    }
    return starts;
  }

  TestAgent agent_{"mlp"};
};

TEST_F(StepsTest, PercentilesPhasesAndHistogramAddUp) {
  Push(agent_.Steps(0, kStartUs, {100, 200, 300, 400}, 0.25));
  const Json rank = Ask("?bins=3")["ranks"][0];
  EXPECT_EQ(rank["steps"], 4);
  EXPECT_EQ(rank["node"], "host-1");
  EXPECT_EQ(rank["wall_seconds"]["min"], 0.1);
  EXPECT_EQ(rank["wall_seconds"]["p50"], 0.2);
  EXPECT_EQ(rank["wall_seconds"]["max"], 0.4);
  EXPECT_EQ(rank["wall_seconds"]["mean"], 0.25);
  EXPECT_EQ(rank["histogram"]["edges_seconds"], Json({0.1, 0.2, 0.3, 0.4}));
  EXPECT_EQ(rank["histogram"]["counts"], Json({1, 1, 2}));
  EXPECT_EQ(rank["phases"][0]["phase"], "data");
  EXPECT_EQ(rank["phases"][0]["share_percent"], 25);
  EXPECT_EQ(rank["phases"][1]["phase"], "unnamed");
  EXPECT_EQ(rank["phases"][1]["share_percent"], 75);
  EXPECT_EQ(rank["series"]["wall_seconds"], Json({0.1, 0.2, 0.3, 0.4}));
  EXPECT_EQ(rank["series"]["data_seconds"][0], 0.025);
  EXPECT_EQ(rank["series"]["phases_seconds"], Json({{"data", {0.025, 0.05, 0.075, 0.1}}}));
}

TEST_F(StepsTest, SingleStepsOfASpanAreThoseThatBeganInIt) {
  Push(agent_.Steps(0, kStartUs, std::vector<std::int64_t>(10, 100), 0.5));
  const auto starts = [&](std::int64_t from_us, std::int64_t to_us, int limit) {
    const Json answer = Ask(Format("?format=rows&limit={}&from_us={}&to_us={}", limit,
                                   kStartUs + from_us, kStartUs + to_us));
    std::vector<std::int64_t> steps;
    for (const Json& row : answer["items"])
      steps.push_back(row["start_us"].get<std::int64_t>() - kStartUs);
    return std::pair(steps, answer["next"].is_null());
  };
  EXPECT_EQ(starts(200'000, 400'000, 5),
            std::pair(std::vector<std::int64_t>({200'000, 300'000, 400'000}), true));
  EXPECT_EQ(starts(200'001, 299'999, 5), std::pair(std::vector<std::int64_t>(), true));
  EXPECT_EQ(starts(200'000, 900'000, 2),
            std::pair(std::vector<std::int64_t>({200'000, 300'000}), false));
  EXPECT_EQ(starts(400'000, 200'000, 2), std::pair(std::vector<std::int64_t>(), true));
}

TEST_F(StepsTest, ALongRunIsDrawnInAtMostFiveHundredPoints) {
  Push(agent_.Steps(0, kStartUs, std::vector<std::int64_t>(3'000, 10), 0.5));
  const Json series = Ask()["ranks"][0]["series"];
  EXPECT_EQ(series["steps_per_point"], 8);
  EXPECT_EQ(series["step"].size(), 375U);
  EXPECT_EQ(series["step"][1], 9);
  EXPECT_EQ(series["wall_seconds"][374], 0.01);
}

TEST_F(StepsTest, RowsPageThroughEveryStepOnce) {
  Push(agent_.Steps(0, kStartUs, std::vector<std::int64_t>(25, 10), 0.5));
  const std::vector<std::int64_t> starts = AllStarts(10, 3);
  ASSERT_EQ(starts.size(), 25U);
  EXPECT_EQ(starts.front(), kStartUs);
  EXPECT_EQ(starts.back(), kStartUs + 240'000);
}

TEST_F(StepsTest, APageThatBeginsWithinAPushIsAsLongAsTheOthers) {
  for (int push = 0; push < 5; ++push) {
    Push(agent_.Steps(0, kStartUs + push * 120'000, std::vector<std::int64_t>(12, 10), 0.5));
  }
  const std::vector<std::int64_t> starts = AllStarts(10, 6);
  ASSERT_EQ(starts.size(), 60U);
  for (std::size_t step = 0; step < starts.size(); ++step) {
    EXPECT_EQ(starts[step], kStartUs + static_cast<std::int64_t>(step) * 10'000);
  }
}

TEST_F(StepsTest, EveryStepIsARowOfATable) {
  Push(agent_.Steps(0, kStartUs, {100, 200}, 0.25));
  const std::string answer = service_.Get("/api/v1/jobs/mlp/steps?format=csv");
  EXPECT_EQ(BodyOf(answer),
            "step,start,start_us,wall_seconds,phases_seconds.data,evaluation_seconds,gpu\r\n"
            "1,2026-11-20T20:13:34.000000Z,1795205614000000,0.1,0.025,0.0,\r\n"
            "2,2026-11-20T20:13:34.100000Z,1795205614100000,0.2,0.05,0.0,\r\n");
  EXPECT_NE(HeaderOf(service_.Get("/api/v1/jobs/mlp/steps?format=csv&limit=1"), "stepscope-next"),
            "");
}

TEST_F(StepsTest, ARankWithoutStepsSaysSo) {
  const Json rank = Ask()["ranks"][0];
  EXPECT_EQ(rank["steps"], 0);
  EXPECT_EQ(rank["wall_seconds"], nullptr);
  EXPECT_EQ(rank["histogram"]["counts"], Json::array());
}

TEST_F(StepsTest, EqualStepsAreOneBin) {
  Push(agent_.Steps(0, kStartUs, {100, 100, 100}, 0.5));
  EXPECT_EQ(Ask()["ranks"][0]["histogram"]["counts"], Json({3}));
}

TEST_F(StepsTest, AHistogramOfAnAnnotationHasTheBinsFromTheShortestToTheLongest) {
  const auto connection = service_.database().Connect();
  JobFrames job(*connection);
  const RankSighting rank{job.job_id(), job.node_id(), 0, kStartUs};
  ASSERT_TRUE(connection->QueryByKey(RanksSeen(std::span(&rank, 1))));
  job.StoreAnnotations(0, {{"load", kStartUs, 1'100}, {"load", kStartUs, 1'200}});
  job.StoreAnnotations(0, {{"load", kStartUs, 1'800}, {"long", kStartUs, std::int64_t{1} << 43}});
  const Json list = service_.GetJson("/api/v1/jobs/train/steps")["ranks"][0]["annotations"];
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["count"], 3);
  EXPECT_EQ(list[0]["histogram"]["counts"], Json({2, 0, 0, 1}));
  EXPECT_EQ(list[0]["histogram"]["edges_seconds"],
            Json({1.024e-6, 1.28e-6, 1.536e-6, 1.792e-6, 2.048e-6}));
  EXPECT_EQ(list[1]["histogram"]["counts"], Json({1}));
  EXPECT_EQ(list[1]["histogram"]["edges_seconds"], Json({4398.046511104, 8796.093022208}));
}

TEST_F(StepsTest, OfManyRanksSomeAreChosenEvenly) {
  for (int rank = 1; rank < 300; ++rank) Push(agent_.Rank(kStartUs, rank));
  ExpectProblem(service_.Get("/api/v1/jobs/mlp/steps"), 400, "invalid-parameter", "300 ranks");
  const auto shown = [&](const std::string& query) {
    const Json answer = Ask(query);
    std::vector<int> ranks;
    for (const Json& rank : answer["ranks"]) ranks.push_back(rank["rank"]);
    EXPECT_EQ(answer["left_out"], query.starts_with("?rank") ? 0 : 300 - ranks.size());
    return ranks;
  };
  EXPECT_EQ(shown("?most=4"), (std::vector{0, 99, 199, 299}));
  EXPECT_EQ(shown("?most=2"), (std::vector{0, 299}));
  EXPECT_EQ(shown("?most=1"), (std::vector{0}));
  EXPECT_EQ(shown("?most=256").size(), 256U);
  EXPECT_EQ(shown("?rank=7&most=8"), (std::vector{7}));
}

TEST_F(StepsTest, NoRankIsLeftOutOfFew) {
  EXPECT_EQ(Ask()["left_out"], 0);
  EXPECT_EQ(Ask("?most=8")["left_out"], 0);
}

TEST_F(StepsTest, WrongQueriesAreRefusedByName) {
  for (const std::string query :
       {"rank=7", "rank=-1", "bins=0", "format=xml", "limit=5", "cursor=MTIz",
        "format=rows&cursor=AAAA", "from_us=1", "to_us=1", "format=rows&from_us=-1", "most=0",
        "most=257", "format=rows&most=1"}) {
    const std::string answer = service_.Get("/api/v1/jobs/mlp/steps?" + query);
    EXPECT_EQ(StatusOf(answer), 400) << query << answer;
  }
}

}  // namespace
}  // namespace stepscope

// What agents tell is bounded in sum, and the service's own clock decides.

#include "server/ingest/check/bounded_facts.h"
#include "server/store/jobs/earlier_runs.h"
#include "server/store/jobs/node_ends.h"
#include "server/store/retention/removals.h"
#include "server/store/rules/job_details.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

class Bounds : public IngestTest {
 protected:
  static Json ManyFacts(int count, std::size_t length) {
    Json facts = {{"pid", 4711}, {"gpu_clock", "on"}};
    for (int i = 0; i < count; ++i) facts[Format("fact{:05}", i)] = std::string(length, 'x');
    return facts;
  }
  static std::string RankFrame(FrameMaker& agent, int rank, const Json& facts,
                               const char* event = "rank") {
    return agent.Lifecycle(
        {{"event", event}, {"at_us", kStartUs}, {"rank", rank}, {"facts", facts}});
  }
  Json FactsOfRank(int rank) {
    const auto job = LoadJobDetails(*connection_, Job().job_id);
    return job ? job->ranks.at(static_cast<std::size_t>(rank)).facts : Json();
  }
  std::int64_t NodeOfRank(int rank) {
    return ListRanks(*connection_, Job().job_id)->at(static_cast<std::size_t>(rank)).node_id;
  }
};

TEST_F(Bounds, FactsOfARankAreCutToWhatIsKept) {
  FrameMaker agent("train");
  ExpectStored(Push({agent.Started(), RankFrame(agent, 0, ManyFacts(7'000, 20))}), 2);
  const Json facts = FactsOfRank(0);
  EXPECT_LE(Dump(facts).size(), kMostRankFacts);
  EXPECT_LE(facts.size(), kMostFacts);
  EXPECT_EQ(facts["pid"], 4711);
  EXPECT_EQ(facts["left_out"], 7'002 - static_cast<int>(facts.size()) + 1);
}

TEST_F(Bounds, FactsThatFitAreKeptAsTheyAre) {
  FrameMaker agent("train");
  const Json facts = {{"pid", 1}, {"loader_num_workers", "4"}, {"list", {1, 2, 3}}};
  ExpectStored(Push({agent.Started(), RankFrame(agent, 0, facts)}), 2);
  EXPECT_EQ(FactsOfRank(0), facts);
}

TEST_F(Bounds, TheCommandAndTheLastLinesAreCut) {
  FrameMaker agent("train");
  Json command = Json::array({"python", "train.py"});
  for (int i = 0; i < 500; ++i) command.push_back(std::string(60, '\x01'));
  Json output = Json::array();
  for (int i = 0; i < 100; ++i) output.push_back(Format("{} {}", i, std::string(2'000, 'y')));
  ExpectStored(Push({agent.Lifecycle({{"event", "started"},
                                      {"at_us", kStartUs},
                                      {"command", command},
                                      {"facts", {{"cores", 2}}}}),
                     agent.Lifecycle({{"event", "ended"},
                                      {"at_us", kStartUs + 1},
                                      {"exit_code", 3},
                                      {"output", output}})}),
               2);
  const auto job = LoadJobDetails(*connection_, Job().job_id);
  const Json& facts = job->nodes.at(0).facts;
  EXPECT_EQ(facts["cores"], 2);
  EXPECT_EQ(facts["command"][1], "train.py");
  EXPECT_LE(Dump(facts).size(), kMostNodeFacts);
  const Json kept = Job().failure["output"];
  EXPECT_LE(Dump(kept).size(), kMostOutput + 2);
  EXPECT_TRUE(kept.back().get<std::string>().starts_with("99 "));
}

// Lists name the facts that they read; what a stranger has put beside them is not read.
TEST_F(Bounds, ListsReadNoFactsThatTheyDoNotName) {
  FrameMaker agent("train");
  Json facts = {{"cores", 2}, {"gpus", Json::array()}, {"other", std::string(4'000, 'x')}};
  for (int gpu = 0; gpu < 40; ++gpu) facts["gpus"].push_back({{"name", "H100"}, {"index", gpu}});
  facts["hooks_missing"] = std::string(3'000, 'y');
  ExpectStored(
      Push({agent.Lifecycle({{"event", "started"}, {"at_us", kStartUs}, {"facts", facts}})}), 1);
  const std::int64_t job_id = Job().job_id;
  EXPECT_EQ(ListNodes(*connection_, job_id)->at(0).facts, Json::object());
  EXPECT_TRUE(ListNodes(*connection_, job_id)->at(0).has_agent);
  constexpr std::string_view kNamed[] = {"cores", "gpus", "hooks_missing"};
  const Json read = ListNodes(*connection_, job_id, kNamed)->at(0).facts;
  EXPECT_EQ(read["cores"], 2);
  EXPECT_TRUE(read["hooks_missing"].is_null()) << "it is longer than a fact may be";
  EXPECT_EQ(ListIn(read, "gpus").count, 40U);
  EXPECT_EQ(ListIn(read, "gpus").first["name"], "H100");
  EXPECT_EQ(ListIn(read, "cores").count, 0U);
}

// All ranks with as many facts as are kept: the answer holds those of the first ones.
TEST_F(Bounds, AJobIsDescribedWithinItsBudget) {
  FrameMaker agent("train");
  ExpectStored(Push({agent.Started()}), 1);
  const Json facts = ManyFacts(60, 40);
  for (int from = 0; from < 3'000; from += 100) {
    std::vector<std::string> frames;
    for (int rank = from; rank < from + 100; ++rank)
      frames.push_back(RankFrame(agent, rank, facts));
    ASSERT_EQ(Push(frames).status, 200);
  }
  const auto job = LoadJobDetails(*connection_, Job().job_id);
  ASSERT_EQ(job->ranks.size(), 3'000U);
  std::size_t bytes = 0, told = 0;
  for (const RankRow& rank : job->ranks) {
    told += !rank.facts.is_null();
    bytes += Dump(rank.facts).size();
  }
  EXPECT_GE(told, 500U);
  EXPECT_LE(told, 2'000U);
  EXPECT_LE(bytes, 8U << 20U);
}

TEST_F(Bounds, NamesAreOfAnnotationsAlone) {
  FrameMaker agent("train");
  Schema schema{-1, {{"at_us", ""}, {"node_cpu_percent", ""}}, {}};
  for (int i = 0; i < 4'096; ++i) schema.names.push_back(Format("{:0>63}", i));
  Table table{1, std::vector<Column>(2)};
  table.columns[0].values = {kStartUs};
  table.columns[1].values = {1};
  const auto reply =
      Push({agent.Started(), agent.Make(FrameKind::kTicks, EncodeTable(table), &schema)});
  ExpectRejected(reply, 2, "bad-schema");
}

// The end of one node asks whether another runs, not what each of them told.
TEST_F(Bounds, AJobEndsWithTheFirstFailureOfItsNodes) {
  FrameMaker one("train", "n1"), two("train", "n2"), three("train", "n3");
  for (FrameMaker* each : {&one, &two, &three}) ExpectStored(Push({each->Started()}), 1);
  const auto end = [](FrameMaker& agent, std::int64_t at_us, int code) {
    return agent.Lifecycle({{"event", "ended"}, {"at_us", at_us}, {"exit_code", code}});
  };
  Push({end(one, kStartUs + 30, 5)});
  Push({end(two, kStartUs + 20, 7)});
  EXPECT_TRUE(SomeNodeRuns(*connection_, Job().job_id).value());
  Push({end(three, kStartUs + 40, 0)});
  EXPECT_EQ(Job().status, JobStatus::kFailed);
  EXPECT_EQ(Job().failure["node"], "n2");
  EXPECT_EQ(Job().ended_us, kStartUs + 40);
}

// A node with a dead clock ends its job in 2001, or in 2099; the job is as old as it is.
TEST_F(Bounds, TheAgeOfAJobIsByTheServicesClock) {
  const auto start_and_end = [&](const std::string& job, std::int64_t at_us) {
    FrameMaker agent(job);
    ExpectStored(Push({agent.Started(),
                       agent.Lifecycle({{"event", "ended"}, {"at_us", at_us}, {"exit_code", 0}})}),
                 2);
  };
  start_and_end("past", 980'000'000'000'000);
  start_and_end("future", 4'080'000'000'000'000);
  const std::int64_t now_us = ToMicros(clock_.Now());
  EXPECT_LE(Job("future").ended_us.value(), now_us);
  EXPECT_TRUE(ListJobsEndedBefore(*connection_, now_us - 60'000'000)->empty());
  EXPECT_EQ(ListJobsEndedBefore(*connection_, now_us + 60'000'000)->size(), 2U);
}

TEST_F(Bounds, ARankStaysWithItsNodeWhileThatLives) {
  FrameMaker one("train", "n1"), two("train", "n2");
  ExpectStored(Push({one.Started(), RankFrame(one, 0, {{"pid", 1}})}), 2);
  ExpectStored(Push({two.Started(), RankFrame(two, 0, {{"pid", 2}})}), 2);
  EXPECT_EQ(FactsOfRank(0)["pid"], 1);
  EXPECT_EQ(Count("select count(*) from events where kind = 'rank_elsewhere'"), 1);
  ExpectStored(Push({RankFrame(two, 0, Json::object(), "rank_ended")}), 3);
  EXPECT_FALSE(ListRanks(*connection_, Job().job_id)->at(0).ended_us) << "it is another node's";
  ExpectStored(Push({RankFrame(one, 0, Json::object(), "rank_ended")}), 3);
  ExpectStored(Push({RankFrame(two, 0, {{"pid", 2}})}), 4);
  EXPECT_EQ(FactsOfRank(0)["pid"], 2) << "its process ended, so the next one may be elsewhere";
}

TEST_F(Bounds, ARankOfASilentNodeMayBeTaken) {
  FrameMaker one("train", "n1"), two("train", "n2");
  ExpectStored(Push({one.Started(), RankFrame(one, 0, {{"pid", 1}})}), 2);
  const auto silent =
      connection_->Query("update nodes set last_seen_us = last_seen_us - 200000000");
  ASSERT_TRUE(silent);
  ExpectStored(Push({two.Started(), RankFrame(two, 0, {{"pid", 2}})}), 2);
  EXPECT_EQ(FactsOfRank(0)["pid"], 2);
}

}  // namespace
}  // namespace stepscope

// Samples on their way into the database: streams, numbers, jobs.

#include <thread>

#include "tests/server/ingest/ingest_fixture.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

class SamplesTest : public IngestTest {
 protected:
  SamplesTest() : agent_("train") { ExpectStored(Push({agent_.Started()}), 1); }

  static Samples Of(std::vector<std::int64_t> times_us, std::vector<double> values,
                    const std::string& node = "n1", const std::string& metric = "user.loss") {
    std::vector<std::uint8_t> present(values.size(), 1);
    return {node, std::move(times_us), {{{metric, ""}, std::move(values), std::move(present), 1}}};
  }
  void ExpectStoredSamples(const PushReply& reply, std::uint64_t samples) {
    EXPECT_EQ(reply.status, 200) << reply.problem_code << ": " << reply.detail;
    EXPECT_EQ(reply.samples, samples);
  }

  FrameMaker agent_;
};

TEST_F(SamplesTest, AreReadBackAsTheyWereSent) {
  ExpectStoredSamples(ingest_->PushSamples("train", Of({kStartUs + 2, kStartUs}, {2.5, -1})), 2);
  const TickTable ticks = Ticks();
  EXPECT_EQ(ticks.at_us, (std::vector<std::int64_t>{kStartUs, kStartUs + 2}));
  ASSERT_EQ(ticks.series, (std::vector<SeriesName>{{"user.loss", ""}}));
  EXPECT_EQ(ticks.columns[0].At(0), -1);
  EXPECT_EQ(ticks.columns[0].At(1), 2.5);
}

TEST_F(SamplesTest, OfANodeHaveOneStreamWhoseCursorCountsThem) {
  for (int i = 0; i < 3; ++i) {
    ExpectStoredSamples(ingest_->PushSamples("train", Of({kStartUs + i}, {1})), 1);
  }
  ExpectStoredSamples(ingest_->PushSamples("train", Of({kStartUs}, {1}, "n2")), 1);
  EXPECT_EQ(Count("select count(*) from streams"), 3);  // the agent's, and two nodes
  EXPECT_EQ(Count("select count(*) from frames f join streams s using (job_id, session) "
                  "where f.sequence <= s.stored and f.node_id = s.node_id"),
            4);
  EXPECT_EQ(Count("select max(stored) from streams join nodes using (job_id, node_id) "
                  "where name = 'n2'"),
            1);
  ExpectStored(Push({agent_.Ticks(kStartUs)}), 2);  // the agent's stream is not touched
}

TEST_F(SamplesTest, ThatAreSentAgainAreGivenOnce) {
  for (int i = 0; i < 2; ++i) {
    ExpectStoredSamples(ingest_->PushSamples("train", Of({kStartUs, kStartUs + 1}, {1, 2})), 2);
    Restart();
  }
  EXPECT_EQ(Ticks().at_us.size(), 2U);
  EXPECT_EQ(Ticks().columns.at(0).values, (std::vector<std::int64_t>{10, 20}));
}

TEST_F(SamplesTest, OfALongPushShareOneSchema) {
  std::vector<std::int64_t> times;
  for (int i = 0; i < 2'000; ++i) times.push_back(kStartUs + i * 1'000);
  const PushReply reply =
      ingest_->PushSamples("train", Of(times, std::vector<double>(times.size(), 4)));
  ExpectStoredSamples(reply, 2'000);
  EXPECT_EQ(Frames(), 4);
  EXPECT_EQ(Count("select count(*) from schemas"), 1);
  EXPECT_EQ(Ticks().at_us, times);
}

TEST_F(SamplesTest, NeedAJobThatRuns) {
  ExpectProblem(ingest_->PushSamples("nobody", Of({kStartUs}, {1})), 410, "unknown-job");
  ExpectStoredSamples(ingest_->PushSamples("train", Of({kStartUs}, {1})), 1);
  ExpectStored(Push({agent_.Ended(0)}), 2);
  ExpectProblem(ingest_->PushSamples("train", Of({kStartUs + 1}, {1})), 409, "job-ended");
  EXPECT_EQ(Frames(), 1);
  EXPECT_EQ(Count("select count(*) from jobs"), 1);
}

TEST_F(SamplesTest, OfANodeWithoutAnAgentDoNotHoldUpTheEndOfTheJob) {
  ExpectStoredSamples(ingest_->PushSamples("train", Of({kStartUs}, {1}, "sidecar")), 1);
  ExpectStored(Push({agent_.Ended(0)}), 2);
  EXPECT_EQ(Job().status, JobStatus::kCompleted);
}

TEST_F(SamplesTest, CountAgainstTheSeriesOfTheirSender) {
  Samples many = Of({kStartUs}, {1});
  many.series.clear();
  for (int i = 0; i < 20'000; ++i) {
    many.series.push_back({{"user.s" + std::to_string(i), ""}, {1}, {1}, 0});
  }
  for (int push = 0; push < 5; ++push) {
    for (auto& series : many.series) series.name.device = std::to_string(push);
    const PushReply reply = ingest_->PushSamples("train", many, "team");
    if (push < 4) ExpectStoredSamples(reply, 20'000);
    if (push == 4) ExpectProblem(reply, 429, "limit-series");  // the times are a column too
  }
  Samples of_others = Of({kStartUs}, {1});
  of_others.node = "others";
  ExpectStoredSamples(ingest_->PushSamples("train", of_others, "others"), 1);
}

TEST_F(SamplesTest, OfManySendersAtOnceAreAllStored) {
  std::vector<std::jthread> senders;
  for (int sender = 0; sender < 8; ++sender) {
    senders.emplace_back([this, sender] {
      for (int i = 0; i < 20; ++i) {
        const PushReply reply =
            ingest_->PushSamples("train", Of({kStartUs + sender * 1'000 + i}, {1}));
        EXPECT_EQ(reply.status, 200) << reply.detail;
      }
    });
  }
  senders.clear();
  EXPECT_EQ(Ticks().at_us.size(), 160U);
  EXPECT_EQ(Count("select stored from streams where stored > 1"), 160);
}

}  // namespace
}  // namespace stepscope

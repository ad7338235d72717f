// Reports of agents about the command, and their effect on the job.

#include "server/ingest/lost_agents.h"
#include "server/store/rules/job_details.h"
#include "server/store/webhooks/webhooks.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

class Lifecycles : public IngestTest {};

TEST_F(Lifecycles, FirstStartMakesTheJobWithItsRules) {
  FrameMaker agent("train");
  ExpectStored(Push({agent.Started("vision")}), 1);
  const JobRow job = Job();
  EXPECT_EQ(job.group, "vision");
  EXPECT_EQ(job.configuration["interval_ms"], 500);
  EXPECT_EQ(job.secondary_status, "Starting");
  EXPECT_FALSE(job.started_us.has_value());
  EXPECT_EQ(ListRuleStates(*connection_, job.job_id)->size(), 1u);
  const auto details = LoadJobDetails(*connection_, job.job_id);
  ASSERT_TRUE(details && details->nodes.size() == 1);
  EXPECT_EQ(details->nodes[0].facts["cores"], 2);
  EXPECT_EQ(details->nodes[0].facts["command"][0], "train");
}

TEST_F(Lifecycles, FirstSampleStartsTheTraining) {
  FrameMaker agent("train");
  ExpectStored(
      Push({agent.Started(), agent.Ticks(kStartUs + 7), agent.Ticks(kStartUs + 9'000'000)}), 3);
  EXPECT_EQ(Job().started_us, kStartUs + 7);
  EXPECT_EQ(Job().secondary_status, "Training");
  EXPECT_EQ(ListTransitions(*connection_, Job().job_id)->size(), 2u);
}

TEST_F(Lifecycles, JobEndsWithItsLastNode) {
  FrameMaker one("train", "n1"), two("train", "n2");
  ExpectStored(Push({one.Started()}), 1);
  ExpectStored(Push({two.Started()}), 1);
  ExpectStored(Push({one.Ticks(kStartUs), one.Ended(0)}), 3);
  EXPECT_EQ(Job().status, JobStatus::kInProgress);
  ExpectStored(Push({two.Ended(0)}), 2);
  EXPECT_EQ(Job().status, JobStatus::kCompleted);
  EXPECT_EQ(Job().ended_us, kStartUs + 9'000'000);
}

TEST_F(Lifecycles, FailureNamesTheNodeAndKeepsItsOutput) {
  FrameMaker one("train", "n1"), two("train", "n2");
  ExpectStored(Push({one.Started()}), 1);
  ExpectStored(Push({two.Started()}), 1);
  ExpectStored(Push({one.Ended(0)}), 2);
  ExpectStored(Push({two.Lifecycle({{"event", "ended"},
                                    {"at_us", kStartUs + 5},
                                    {"signal", 9},
                                    {"reason", "the kernel killed it"},
                                    {"output", {"out of memory"}}})}),
               2);
  const JobRow job = Job();
  EXPECT_EQ(job.status, JobStatus::kFailed);
  EXPECT_EQ(job.failure["node"], "n2");
  EXPECT_EQ(job.failure["signal"], 9);
  EXPECT_TRUE(job.failure["exit_code"].is_null());
  EXPECT_EQ(job.failure["output"][0], "out of memory");
  EXPECT_EQ(job.failure["reason"], "the kernel killed it");
}

TEST_F(Lifecycles, EndNeverOvertakesItsSamples) {
  FrameMaker agent("train");
  ASSERT_EQ(Push({agent.Started()}).status, 200);
  const std::string ticks = agent.Ticks(kStartUs), ended = agent.Ended(0);
  ExpectProblem(Push({ended}), 409, "gap");
  EXPECT_EQ(Job().status, JobStatus::kInProgress);
  ExpectStored(Push({ticks, ended}), 3);
  EXPECT_EQ(Job().status, JobStatus::kCompleted);
  EXPECT_EQ(Frames(), 1);
}

// Reports of an agent that did not start the processes.
const Json kGone = {{"event", "ended"}, {"at_us", kStartUs + 5}, {"exit_code", nullptr}};

TEST_F(Lifecycles, AnUnknownEndCompletesTheJobAndSaysSo) {
  FrameMaker one("train", "n1"), two("train", "n2");
  ExpectStored(Push({one.Started()}), 1);
  ExpectStored(Push({two.Started(), two.Lifecycle(kGone)}), 2);
  ExpectStored(Push({one.Ended(0)}), 2);
  EXPECT_EQ(Job().status, JobStatus::kCompleted);
  EXPECT_EQ(ListTransitions(*connection_, Job().job_id)->back().detail,
            "n2: the processes are gone; how they ended is not known");
}

TEST_F(Lifecycles, AFailureOutweighsAnUnknownEnd) {
  FrameMaker one("train", "n1"), two("train", "n2");
  ExpectStored(Push({one.Started()}), 1);
  ExpectStored(Push({two.Started(), two.Lifecycle(kGone)}), 2);
  ExpectStored(Push({one.Ended(3)}), 2);
  EXPECT_EQ(Job().status, JobStatus::kFailed);
  EXPECT_EQ(Job().failure["node"], "n1");
}

TEST_F(Lifecycles, EndedJobTakesNoNewSessionButDrainsTheKnown) {
  FrameMaker live("train"), old("train");
  ExpectStored(Push({live.Started()}), 1);
  ExpectStored(Push({old.Ticks(kStartUs)}), 1);
  ExpectStored(Push({live.Ended(0)}), 2);
  FrameMaker late("train", "n9");
  const PushReply reply = Push({late.Started()});
  ExpectRejected(reply, 1, "job-ended");
  ExpectStored(reply, 1);
  EXPECT_EQ(ListNodes(*connection_, Job().job_id)->size(), 1u);
  EXPECT_EQ(Count("select count(*) from streams"), 2);
  ExpectStored(Push({old.Ticks(kStartUs + 2'000'000)}), 2);
  EXPECT_EQ(Frames(), 2);
}

TEST_F(Lifecycles, AgentThatComesBackGoesOnInANewSession) {
  FrameMaker first("train"), second("train");
  ExpectStored(Push({first.Started(), first.Ticks(kStartUs)}), 2);
  ExpectStored(Push({second.Started(), second.Ticks(kStartUs + 2'000'000)}), 2);
  EXPECT_EQ(ListNodes(*connection_, Job().job_id)->size(), 1u);
  EXPECT_EQ(Ticks().at_us.size(), 8u);
  EXPECT_EQ(Job().status, JobStatus::kInProgress);
}

TEST_F(Lifecycles, RanksComeFromTheirFramesStepsOrAnnotations) {
  FrameMaker agent("train");
  ExpectStored(
      Push({agent.Started(),
            agent.Lifecycle(
                {{"event", "rank"}, {"at_us", kStartUs}, {"rank", 1}, {"facts", {{"pid", 42}}}}),
            agent.Steps(1, kStartUs, 1, 3), agent.Steps(0, kStartUs, 1, 3),
            agent.Annotations(2, "load", 4),
            agent.Lifecycle({{"event", "rank_ended"}, {"at_us", kStartUs + 1}, {"rank", 1}})}),
      6);
  const auto details = LoadJobDetails(*connection_, Job().job_id);
  ASSERT_TRUE(details && details->ranks.size() == 3);
  EXPECT_FALSE(details->ranks[0].ended_us.has_value());
  EXPECT_EQ(details->ranks[1].facts["pid"], 42);
  EXPECT_EQ(details->ranks[1].ended_us, kStartUs + 1);
}

TEST_F(Lifecycles, ClockOffsetIsKeptAndFarOnesAreMarked) {
  FrameMaker agent("train");
  agent.head.clock_offset_us = 70'000'000;
  agent.head.round_trip_us = 900;
  ExpectStored(Push({agent.Started(), agent.Ticks(kStartUs)}), 2);
  agent.head.clock_offset_us = 5;
  agent.head.round_trip_us = 0;  // not measured: what stands stays
  ExpectStored(Push({agent.Ticks(kStartUs + 2'000'000)}), 3);
  const auto nodes = ListNodes(*connection_, Job().job_id);
  EXPECT_EQ((*nodes)[0].clock_offset_us, 70'000'000);
  EXPECT_EQ((*nodes)[0].round_trip_us, 900);
  EXPECT_EQ(Count("select count(*) from frames where clock_suspect"), 1);
  EXPECT_EQ(Ticks().at_us[0], kStartUs);
}

TEST_F(Lifecycles, SilentJobsAreEndedAsInterrupted) {
  FrameMaker lost("lost"), live("live");
  ExpectStored(Push({lost.Started()}), 1);
  ExpectStored(Push({live.Started()}), 1);
  ASSERT_TRUE(connection_->Query("update nodes set last_seen_us = 1 where job_id = $1",
                                 {Job("lost").job_id}));
  const std::int64_t now_us = ToMicros(clock_.Now());
  const auto ended = MarkLostAgents(*connection_, 10min, now_us, "http://host");
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(*ended, 1);
  EXPECT_EQ(Job("lost").status, JobStatus::kFailed);
  EXPECT_EQ(Job("lost").secondary_status, "Interrupted");
  EXPECT_EQ(Job("live").status, JobStatus::kInProgress);
  EXPECT_EQ(*MarkLostAgents(*connection_, 10min, now_us, "http://host"), 0);
}

TEST_F(Lifecycles, SilentJobThatCannotBeEndedHoldsUpNoOther) {
  FrameMaker first("first"), second("second");
  ExpectStored(Push({first.Started()}), 1);
  ExpectStored(Push({second.Started()}), 1);
  ASSERT_TRUE(connection_->Execute("update nodes set last_seen_us = 1"));
  ASSERT_TRUE(connection_->Execute(Format(
      "alter table status_transitions add check (job_id <> {}) not valid", Job("first").job_id)));
  const std::int64_t now_us = ToMicros(clock_.Now());
  const auto ended = MarkLostAgents(*connection_, 10min, now_us, "http://host");
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(*ended, 1);
  EXPECT_EQ(Job("first").status, JobStatus::kInProgress);
  EXPECT_EQ(Job("second").status, JobStatus::kFailed);
}

}  // namespace
}  // namespace stepscope

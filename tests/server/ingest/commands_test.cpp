// Commands of the service to agents, and their answers.

#include "server/store/jobs/interval_requests.h"
#include "server/store/jobs/stop_requests.h"
#include "server/store/rules/job_details.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

class Commands : public IngestTest {
 protected:
  std::vector<std::string> AskedOf(FrameMaker& agent, const std::vector<std::string>& frames) {
    const PushReply reply = Push(frames);
    ExpectStored(reply, agent.head.sequence);
    std::vector<std::string> ids;
    for (const ServiceCommand& command : reply.answer.commands) ids.push_back(command.id);
    return ids;
  }
  std::string Answer(FrameMaker& agent, const std::string& id, const std::string& outcome) {
    return agent.Lifecycle({{"event", "answered"},
                            {"at_us", kStartUs},
                            {"command", id},
                            {"outcome", outcome},
                            {"reason", outcome == "done" ? "" : "not allowed"}});
  }
  Status Stop() { return AskToStop(*connection_, Job().job_id, kStartUs, "http://host"); }
  std::string Stands() {
    const JobRow job = Job();
    return Format("{}/{}", ToText(job.status), job.secondary_status);
  }
  void Change(std::int64_t interval_ms) {
    ASSERT_TRUE(ChangeInterval(*connection_, Job().job_id, interval_ms, kStartUs));
  }
};

using Ids = std::vector<std::string>;

TEST_F(Commands, AreAskedUntilTheyAreAnswered) {
  FrameMaker agent("train");
  EXPECT_EQ(AskedOf(agent, {agent.Started()}), Ids());
  Change(250);
  const PushReply reply = Push({agent.Ticks(kStartUs)});
  ASSERT_EQ(reply.answer.commands.size(), 1u);
  EXPECT_EQ(reply.answer.commands[0].kind, "interval");
  EXPECT_EQ(reply.answer.commands[0].interval_ms, 250);
  EXPECT_EQ(AskedOf(agent, {agent.Ticks(kStartUs + 9'000'000)}), Ids{"interval-1"});
  EXPECT_EQ(AskedOf(agent, {Answer(agent, "interval-1", "done")}), Ids());
  Change(1'000);
  Change(2'000);
  EXPECT_EQ(AskedOf(agent, {agent.Ticks(kStartUs + 10'000'000)}), Ids{"interval-3"}) << "the last";
}

TEST_F(Commands, TellNoIntervalToTheAgentThatBringsTheFirst) {
  ASSERT_TRUE(CreateJob(*connection_, {"train", "", Json::object(), {}, ""}, kStartUs));
  const auto started = [](FrameMaker& agent, int interval_ms) {
    return agent.Lifecycle(
        {{"event", "started"}, {"at_us", kStartUs}, {"interval_ms", interval_ms}});
  };
  FrameMaker one("train", "n1"), two("train", "n2");
  EXPECT_EQ(IntervalMs(Job().configuration), kDefaultIntervalMs);
  EXPECT_EQ(AskedOf(one, {started(one, 100)}), Ids());
  EXPECT_EQ(IntervalMs(Job().configuration), 100);
  EXPECT_EQ(AskedOf(two, {started(two, 200)}), Ids());
  EXPECT_EQ(IntervalMs(Job().configuration), 100) << "that of the first";
}

TEST_F(Commands, AreAskedOfEachAgent) {
  FrameMaker one("train", "n1"), two("train", "n2");
  AskedOf(one, {one.Started()});
  AskedOf(two, {two.Started()});
  Change(250);
  EXPECT_EQ(AskedOf(one, {Answer(one, "interval-1", "done")}), Ids());
  EXPECT_EQ(AskedOf(two, {two.Ticks(kStartUs)}), Ids{"interval-1"});
  FrameMaker again("train", "n1");
  EXPECT_EQ(AskedOf(again, {again.Started()}), Ids{"interval-1"}) << "it began with its own";
}

TEST_F(Commands, RefusalStandsWithTheNode) {
  FrameMaker agent("train");
  AskedOf(agent, {agent.Started()});
  Change(250);
  EXPECT_EQ(AskedOf(agent, {Answer(agent, "interval-1", "refused")}), Ids());
  const Json facts = LoadJobDetails(*connection_, Job().job_id)->nodes.at(0).facts;
  EXPECT_EQ(facts["last_command"]["outcome"], "refused");
  EXPECT_EQ(facts["last_command"]["reason"], "not allowed");
  EXPECT_EQ(facts["cores"], 2);
}

TEST_F(Commands, AnswersToNothingChangeNothing) {
  FrameMaker agent("train");
  AskedOf(agent, {agent.Started()});
  Change(250);
  for (const char* id : {"interval-0", "interval--1", "interval-", "interval-9999999999999999999",
                         "window-1", "interval-101"}) {
    EXPECT_EQ(AskedOf(agent, {Answer(agent, id, "done")}), Ids{"interval-1"}) << id;
  }
}

TEST_F(Commands, AnswersThatAreNoneAreRefused) {
  FrameMaker agent("train");
  AskedOf(agent, {agent.Started()});
  ExpectRejected(Push({agent.Lifecycle({{"event", "answered"}, {"at_us", kStartUs}})}), 2,
                 "bad-lifecycle");
  ExpectRejected(Push({Answer(agent, "interval-1", "perhaps")}), 3, "bad-lifecycle");
}

TEST_F(Commands, NothingIsAskedOfAJobThatEnded) {
  FrameMaker agent("train");
  AskedOf(agent, {agent.Started()});
  Change(250);
  AskedOf(agent, {agent.Ended(0)});
  EXPECT_EQ(AskedOf(agent, {agent.Ticks(kStartUs)}), Ids());
}

TEST_F(Commands, StopIsAskedOfEachAgentUntilItsCommandEnds) {
  FrameMaker one("train", "n1"), two("train", "n2");
  AskedOf(one, {one.Started(), one.Ticks(kStartUs)});
  AskedOf(two, {two.Started()});
  ASSERT_TRUE(Stop());
  EXPECT_EQ(Stands(), "Stopping/Stopping");
  EXPECT_EQ(AskedOf(one, {one.Ticks(kStartUs + 9'000'000)}), Ids{"stop-1"});
  EXPECT_EQ(AskedOf(one, {Answer(one, "stop-1", "done")}), Ids());
  FrameMaker again("train", "n2");
  EXPECT_EQ(AskedOf(again, {again.Started()}), Ids{"stop-1"}) << "it was not asked";
  AskedOf(one, {one.Ended(0)});
  EXPECT_EQ(Stands(), "Stopping/Stopping") << "n2 has not ended";
  AskedOf(again, {again.Ended(1)});
  EXPECT_EQ(Stands(), "Stopped/Stopped") << "however it ended";
  EXPECT_TRUE(Job().failure.is_null());
}

TEST_F(Commands, AJobWhoseAgentsAllRefuseToStopGoesOn) {
  FrameMaker one("train", "n1"), two("train", "n2");
  AskedOf(one, {one.Started(), one.Ticks(kStartUs)});
  AskedOf(two, {two.Started()});
  ASSERT_TRUE(Stop());
  EXPECT_EQ(AskedOf(one, {Answer(one, "stop-1", "refused")}), Ids());
  EXPECT_EQ(Stands(), "Stopping/Stopping") << "n2 has not answered";
  EXPECT_EQ(AskedOf(two, {Answer(two, "stop-1", "refused")}), Ids());
  EXPECT_EQ(Stands(), "InProgress/Training");
  const auto transitions = ListTransitions(*connection_, Job().job_id);
  EXPECT_EQ(transitions->back().detail, "not stopped: not allowed");
  ASSERT_TRUE(Stop());
  EXPECT_EQ(AskedOf(one, {one.Ticks(kStartUs + 9'000'000)}), Ids{"stop-2"}) << "asked anew";
}

TEST_F(Commands, ARefusalStandsWhenItsAgentSaysAnewWhatItsNodeIs) {
  FrameMaker one("train", "n1"), two("train", "n2");
  AskedOf(one, {one.Started()});
  AskedOf(two, {two.Started()});
  ASSERT_TRUE(Stop());
  AskedOf(one, {Answer(one, "stop-1", "refused"), one.Started()});
  AskedOf(two, {Answer(two, "stop-1", "refused")});
  EXPECT_EQ(Stands(), "InProgress/Starting");
}

TEST_F(Commands, AnAgentThatIsNotHeardIsNotWaitedFor) {
  FrameMaker one("train", "n1"), gone("train", "n2");
  AskedOf(one, {one.Started()});
  AskedOf(gone, {gone.Started()});
  ASSERT_TRUE(Stop());
  ASSERT_TRUE(connection_->Query("update nodes set last_seen_us = 1 where name = 'n2'", {}));
  AskedOf(one, {Answer(one, "stop-1", "refused")});
  EXPECT_EQ(Stands(), "InProgress/Starting");
}

TEST_F(Commands, AJobThatIsStoppingIsAskedOnceMore) {
  FrameMaker agent("train");
  AskedOf(agent, {agent.Started()});
  ASSERT_TRUE(Stop());
  EXPECT_EQ(AskedOf(agent, {Answer(agent, "stop-1", "done")}), Ids());
  ASSERT_TRUE(Stop());
  EXPECT_EQ(AskedOf(agent, {agent.Ticks(kStartUs)}), Ids{"stop-2"});
  EXPECT_EQ(AskedOf(agent, {Answer(agent, "stop-1", "refused")}), Ids{"stop-2"}) << "an old one";
  EXPECT_EQ(Stands(), "Stopping/Stopping");
}

TEST_F(Commands, FactsThatAreNoAnswersHarmNobody) {
  FrameMaker odd("train", "n1"), two("train", "n2");
  for (const Json& last :
       {Json{{"command", 5}}, Json{{"command", "stop-1"}, {"outcome", Json::array()}}, Json("x")}) {
    AskedOf(odd, {odd.Lifecycle({{"event", "started"},
                                 {"at_us", kStartUs},
                                 {"command", {"x"}},
                                 {"facts", {{"last_command", last}, {"allows", 7}}}})});
  }
  AskedOf(two, {two.Started()});
  ASSERT_TRUE(Stop());
  AskedOf(two, {Answer(two, "stop-1", "refused")});
  EXPECT_EQ(Stands(), "Stopping/Stopping");
}

TEST_F(Commands, ALateFirstSampleDoesNotUndoAStop) {
  FrameMaker agent("train");
  AskedOf(agent, {agent.Started()});
  ASSERT_TRUE(Stop());
  EXPECT_EQ(AskedOf(agent, {agent.Ticks(kStartUs)}), Ids{"stop-1"});
  EXPECT_EQ(Stands(), "Stopping/Stopping");
}

TEST_F(Commands, AnswersToStopsThatWereNeverAskedChangeNothing) {
  FrameMaker agent("train");
  AskedOf(agent, {agent.Started()});
  for (const char* id : {"stop-1", "stop-0", "stop--1", "stop-9999999999999999999", "stop"}) {
    AskedOf(agent, {Answer(agent, id, "refused")});
    EXPECT_EQ(Stands(), "InProgress/Starting") << id;
  }
}

}  // namespace
}  // namespace stepscope

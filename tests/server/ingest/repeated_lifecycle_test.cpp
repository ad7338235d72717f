// A session that starts and ends over and over in one push.

#include "tests/server/ingest/ingest_fixture.h"

namespace stepscope {
namespace {

using test::FrameMaker;

class RepeatedLifecycle : public IngestTest {
 protected:
  // Counts the writes of nodes from now on.
  void CountWrites() {
    ASSERT_TRUE(connection_->Execute(R"(
create table node_writes (at bigint);
create function count_write() returns trigger language plpgsql as $$
begin
    insert into node_writes values (1);
    return null;
end $$;
create trigger count_write after update on nodes for each row execute function count_write())"));
  }
};

TEST_F(RepeatedLifecycle, TheFirstAndTheLastOfEachAreApplied) {
  if (connection_->distributed()) GTEST_SKIP() << "Citus takes no triggers";
  FrameMaker agent("train");
  ExpectStored(Push({agent.Started()}), 1);
  CountWrites();
  std::vector<std::string> frames;
  for (int i = 0; i < 128; ++i) {
    frames.push_back(agent.Started());
    frames.push_back(agent.Ended(i));
  }
  ExpectStored(Push(frames), 257);
  EXPECT_LE(Count("select count(*) from node_writes"), 8);
  EXPECT_EQ(Count("select stored from streams"), 257);
  EXPECT_EQ(Count("select exit_code from nodes"), 127) << "the last one counts";
  EXPECT_EQ(Job().status, JobStatus::kCompleted) << "the first end, with code 0, ended the job";
}

TEST_F(RepeatedLifecycle, RanksOfWhichEachSaysSomethingAreAllApplied) {
  FrameMaker agent("train");
  std::vector<std::string> frames = {agent.Started()};
  for (int rank = 0; rank < 40; ++rank) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      frames.push_back(agent.Lifecycle({{"event", "rank"},
                                        {"at_us", test::kStartUs},
                                        {"rank", rank},
                                        {"facts", {{"repeat", repeat}}}}));
    }
  }
  ExpectStored(Push(frames), 121);
  EXPECT_EQ(Count("select count(*) from ranks where facts ->> 'repeat' = '2'"), 40);
}

}  // namespace
}  // namespace stepscope

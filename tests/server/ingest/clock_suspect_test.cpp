// A node says since when, until when and by how much its clock was seen to be off.

#include "server/ingest/check/check_push.h"
#include "server/ingest/group.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

constexpr std::int64_t kHourUs = 3'600'000'000;

class ClockSuspects : public IngestTest {
 protected:
  ClockSuspects() {
    agent_.head.round_trip_us = 1'000;
    Store({{agent_.Started()}}, 1);
  }
  // Pushes that are stored together at a second of the service's clock.
  void Store(const std::vector<std::vector<std::string>>& pushes, std::int64_t second) {
    std::vector<CheckedPush> checked;
    std::vector<GroupItem> items;
    for (const auto& frames : pushes) {
      auto received = ReceivePush(
          test::PushOf(frames), [](const FrameHead&) { return KnownSchema(); }, MayWait::kYes);
      auto push = CheckPush(std::move(*received), nobody_knows_);
      checked.push_back(std::get<CheckedPush>(std::move(push)));
    }
    for (CheckedPush& push : checked) items.push_back({&push, 0, push.frames.size()});
    BoundNodes bound;
    const auto stored = StoreGroup(*connection_, items, {}, bound, second * 1'000'000);
    ASSERT_TRUE(stored) << stored.error().message;
  }
  std::string TicksOff(FrameMaker& agent, std::int64_t offset_us) {
    agent.head.clock_offset_us = offset_us;
    return agent.Ticks(kStartUs);
  }
  void StoreOff(std::int64_t offset_us, std::int64_t second) {
    Store({{TicksOff(agent_, offset_us)}}, second);
  }
  // The suspect clock of the node at `place` in the list of nodes.
  std::optional<ClockSuspect> Seen(const std::string& job = "train", std::size_t place = 0) {
    const auto nodes = ListNodes(*connection_, Job(job).job_id);
    EXPECT_TRUE(nodes) << nodes.error().message;
    return nodes->at(place).clock_suspect;
  }
  void ExpectSeen(std::int64_t since, std::int64_t until, std::int64_t offset_us) {
    const auto seen = Seen();
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->since_us, since * 1'000'000);
    EXPECT_EQ(seen->until_us, until * 1'000'000);
    EXPECT_EQ(seen->offset_us, offset_us);
  }

  const LoadSchema nobody_knows_ = [](const FrameHead&) { return KnownSchema(); };
  FrameMaker agent_{"train"};
};

TEST_F(ClockSuspects, AreNoNodesAMinuteOff) {
  StoreOff(60'000'000, 2);
  StoreOff(-60'000'000, 3);
  EXPECT_FALSE(Seen());
}

TEST_F(ClockSuspects, SayWhenTheyWereSeenFirstAndLast) {
  StoreOff(kHourUs, 2);
  ExpectSeen(2, 2, kHourUs);
  StoreOff(kHourUs + 5, 3);
  ExpectSeen(2, 3, kHourUs + 5);
  StoreOff(7, 4);
  ExpectSeen(2, 3, kHourUs + 5);
  StoreOff(-kHourUs, 5);
  ExpectSeen(2, 5, -kHourUs);
}

TEST_F(ClockSuspects, AreNodesFromTheirFirstPushOn) {
  FrameMaker far("other");
  far.head.clock_offset_us = INT64_MIN;
  Store({{far.Started()}}, 2);
  ASSERT_TRUE(Seen("other"));
  EXPECT_EQ(Seen("other")->since_us, 2'000'000);
  EXPECT_EQ(Seen("other")->offset_us, -3'200'000'000'000'000) << "a hundred years";
}

// Frames that an agent kept while its clock was wrong come together with later ones.
TEST_F(ClockSuspects, AreSeenInAnyFrameOfAPushAndAnyPushOfAGroup) {
  const std::string wrong = TicksOff(agent_, kHourUs), right = TicksOff(agent_, 7);
  Store({{wrong, right}}, 2);
  ExpectSeen(2, 2, kHourUs);
  const std::string again = TicksOff(agent_, -kHourUs), well = TicksOff(agent_, 7);
  Store({{again}, {well}}, 3);
  ExpectSeen(2, 3, -kHourUs);
  FrameMaker one("train"), other("train");
  Store({{TicksOff(one, 2 * kHourUs)}, {TicksOff(other, 7)}}, 4);
  ExpectSeen(2, 4, 2 * kHourUs);
}

// A clock in another century is off all the more.
TEST_F(ClockSuspects, AreSeenInFramesThatAreRefused) {
  agent_.head.created = FromMicros(-kHourUs);
  agent_.head.clock_offset_us = kStartUs;
  ExpectRejected(Push({agent_.Ticks(kStartUs)}), 2, "clock");
  ASSERT_TRUE(Seen());
  EXPECT_EQ(Seen()->offset_us, kStartUs);
  EXPECT_EQ(Frames(), 0);
}

TEST_F(ClockSuspects, AreLeftAsTheyAreByAnOlderService) {
  constexpr char kAsBefore[] = R"(
insert into nodes (job_id, name, first_seen_us, last_seen_us, clock_offset_us, round_trip_us)
values ($1, $2, 9, 9000000, 7, 1)
on conflict (job_id, name) do update
set last_seen_us = excluded.last_seen_us, clock_offset_us = excluded.clock_offset_us)";
  StoreOff(kHourUs, 2);
  ASSERT_TRUE(connection_->Query(kAsBefore, {Job().job_id, "n1"}));
  ASSERT_TRUE(connection_->Query(kAsBefore, {Job().job_id, "n2"}));
  ExpectSeen(2, 2, kHourUs);
  EXPECT_FALSE(Seen("train", 1));
}

}  // namespace
}  // namespace stepscope

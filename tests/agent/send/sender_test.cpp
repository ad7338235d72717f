// The sender against a service that keeps the rules of the protocol.

#include "agent/send/sender.h"

#include <set>

#include "tests/agent/send/sender_fixture.h"

namespace stepscope {
namespace {

TEST_F(SenderTest, DeliversEveryFrameOnceAndInOrder) {
  Append(300);
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  ASSERT_EQ(service.taken.size(), 300u);
  EXPECT_EQ(service.taken.back().sequence, 300u);
  EXPECT_EQ(stream.figures().frames_waiting, 0u);
  EXPECT_EQ(sender.Send(), Sender::kNothingWaits);
  EXPECT_EQ(service.pushes, 2);
}

TEST_F(SenderTest, SendsAgainWhatMayNotHaveArrived) {
  Append(2);
  service.scripted = {Unavailable("connection lost")};
  EXPECT_LE(SendAll(), 500ms);
  EXPECT_EQ(sender.reason(), "connection lost");
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_EQ(service.taken.size(), 2u);
  EXPECT_EQ(sender.reason(), "");
}

TEST_F(SenderTest, TakesARepeatedAcknowledgementForWhatItIs) {
  Append(3);
  service.scripted = {Taken(3)};
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  service.cursor = 3;
  Append(1);
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_EQ(service.cursor, 4u);
}

TEST_F(SenderTest, WaitsLongerAndLongerButNeverMoreThanHalfAMinute) {
  Append(1);
  Duration longest{};
  for (int i = 0; i < 200; ++i) {
    service.scripted.push_back(Problem(503, "busy"));
    const Duration wait = sender.Send();
    EXPECT_LE(wait, 30s);
    longest = std::max(longest, wait);
  }
  EXPECT_GT(longest, 15s);
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
}

TEST_F(SenderTest, RespectsRetryAfterAndDoesNotComeBackWithAllTheOthers) {
  Append(1);
  std::set<Duration> waits;
  for (int i = 0; i < 20; ++i) {
    service.scripted = {HttpAnswer{503, {{"Retry-After", "120"}}, ""}};
    waits.insert(sender.Send());
  }
  EXPECT_GE(*waits.begin(), 120s);
  EXPECT_LE(*waits.rbegin(), 132s);
  EXPECT_GT(waits.size(), 10u);
}

TEST_F(SenderTest, AsksRarelyWhileItsTokenIsRefused) {
  Append(1);
  service.scripted = {Problem(403, "forbidden")};
  const Duration wait = sender.Send();
  EXPECT_GE(wait, 30s);
  EXPECT_LE(wait, 90s);
  EXPECT_TRUE(sender.forbidden());
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_FALSE(sender.forbidden());
}

TEST_F(SenderTest, RewindsWhenTheServiceLostWhatItHadAcknowledged) {
  Append(5);
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  service = FakeService{};
  service.cursor = 2;
  Append(1);
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  ASSERT_EQ(service.taken.size(), 4u);
  EXPECT_EQ(service.taken.front().sequence, 3u);
}

TEST_F(SenderTest, ReportsWhatItNoLongerHas) {
  FrameStream small({"job-1", "node-1"}, {.bytes = 1000}, clock);
  Sender from_small(
      small, [this](const std::string& body) { return service.Post(body); }, clock);
  for (int i = 0; i < 20; ++i) {
    small.Append({.kind = FrameKind::kLifecycle, .payload = std::string(100, 'x'), .samples = 2});
  }
  while (from_small.Send() == 0ns) {
  }
  EXPECT_EQ(service.cursor, 20u);
  EXPECT_EQ(service.taken.front().kind, FrameKind::kLost);
  const auto held = static_cast<unsigned>(service.taken.size() - 1);
  EXPECT_EQ(service.lost, Format(R"({{"first":1,"last":{},"reason":"dropped","from_us":0,)"
                                 R"("to_us":0,"samples":{}}})",
                                 20 - held, 2 * (20 - held)));
}

TEST_F(SenderTest, SendsASchemaOnceAndAgainWhenItIsUnknown) {
  AppendTick(FromMicros(1'000'000));
  AppendTick(FromMicros(2'000'000));
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_EQ(service.schemas.size(), 1u);
  service.schemas.clear();
  AppendTick(FromMicros(3'000'000));
  AppendTick(FromMicros(4'000'000));
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_EQ(service.cursor, 4u);
  EXPECT_FALSE(service.schemas.empty());
}

TEST_F(SenderTest, EndsForGoodWhenTheJobHasEnded) {
  Append(3);
  service.scripted = {Taken(0, {{1, "job-ended", "job job-1 has ended"}})};
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_TRUE(sender.over());
  EXPECT_EQ(sender.reason(), "job job-1 has ended");
  Append(3);
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_EQ(service.pushes, 1);
}

TEST_F(SenderTest, TellsTheServiceHowFarTheClocksAreApart) {
  Append(1);
  service.scripted = {Taken(1, {}, clock.Now() + 1500ms)};
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  service.cursor = 1;
  Append(1);
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_EQ(service.taken.back().clock_offset_us, 1'500'000);
  EXPECT_GT(service.taken.back().round_trip_us, 0);
}

struct SenderWarningTest : SenderTest {
  static void SetUpTestSuite() { StartLog("sender_warning_test", LogLevel::kWarning); }
};

TEST_F(SenderWarningTest, WarnsOnceOfARefusedTokenAndAgainWhenTheReasonIsAnother) {
  const auto warnings = [&](HttpAnswer answer, int times) {
    testing::internal::CaptureStderr();
    for (int i = 0; i < times; ++i) {
      service.scripted = {answer};
      sender.Send();
      clock.Advance(61s);
    }
    return testing::internal::GetCapturedStderr();
  };
  Append(1);
  const std::string first = warnings(Problem(401, "unauthorized"), 10);
  EXPECT_EQ(std::ranges::count(first, '\n'), 1) << first;
  EXPECT_NE(first.find("when --token-file holds a token that it takes"), std::string::npos);
  const std::string second =
      warnings({403, {}, R"({"code":"node-bound","detail":"the node is of another token"})"}, 10);
  EXPECT_EQ(std::ranges::count(second, '\n'), 1) << second;
  EXPECT_NE(second.find("the node is of another token"), std::string::npos);
}

}  // namespace
}  // namespace stepscope

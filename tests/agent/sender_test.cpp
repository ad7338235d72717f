// The sender against a service that keeps the rules of the protocol, and against ones that do not.

#include "agent/sender.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "agent/framer.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/wire/table_codec.h"
#include "tests/support/fake_clock.h"

namespace stepscope {
namespace {

using test::FakeClock;

HttpAnswer Taken(std::uint64_t acknowledged, std::vector<RejectedFrame> rejected = {},
                 Time now = FromMicros(1'800'000'000'000'000)) {
  return {200, {}, EncodePushAnswer({acknowledged, acknowledged + 1, std::move(rejected), now})};
}

HttpAnswer Problem(int status, std::string_view code, std::uint64_t expected = 0) {
  return {status, {}, Format(R"({{"code":"{}","expected":{},"detail":"why"}})", code, expected)};
}

// Remembers every frame it took, and answers as the protocol says, unless told otherwise.
struct FakeService {
  std::deque<Result<HttpAnswer>> scripted;  // given first
  std::uint64_t cursor = 0;
  std::vector<std::uint64_t> schemas;
  std::vector<FrameHead> taken;
  std::string lost;  // payloads of lost frames
  int pushes = 0;

  Result<HttpAnswer> Post(const std::string& body) {
    ++pushes;
    if (!scripted.empty()) {
      auto answer = scripted.front();
      scripted.pop_front();
      return answer;
    }
    const auto split = SplitPush(body);
    for (const std::string_view bytes : *split) {
      const auto frame = DecodeFrame(bytes);
      EXPECT_TRUE(frame.ok());
      if (auto refused = Take(*frame)) return *refused;
    }
    return Taken(cursor);
  }

  std::optional<HttpAnswer> Take(const Frame& frame) {
    if (frame.head.sequence <= cursor) return std::nullopt;
    if (frame.head.sequence != cursor + 1) return Problem(409, "gap", cursor + 1);
    if (frame.schema) schemas.push_back(frame.head.schema_hash);
    if (frame.head.schema_hash != 0 &&
        std::ranges::find(schemas, frame.head.schema_hash) == schemas.end()) {
      return Problem(409, "unknown-schema");
    }
    cursor = frame.head.sequence;
    if (frame.head.kind == FrameKind::kLost) {
      lost += frame.payload;
      cursor = std::stoull(frame.payload.substr(frame.payload.find("\"last\":") + 7));
    }
    taken.push_back(frame.head);
    return std::nullopt;
  }
};

struct SenderTest : testing::Test {
  static void SetUpTestSuite() { StartLog("sender_test", LogLevel::kError); }

  void Append(int frames, std::size_t bytes = 10) {
    for (int i = 0; i < frames; ++i) {
      stream.Append({.kind = FrameKind::kLifecycle,
                     .payload = "\"" + std::string(bytes, 'x') + "\"",
                     .from_us = 1,
                     .to_us = 2,
                     .samples = 3});
    }
  }
  // Until nothing waits or the sender wants to wait; says which.
  Duration SendAll() {
    for (int i = 0; i < 100; ++i) {
      const Duration wait = sender.Send();
      if (wait != 0ns) return wait;
    }
    ADD_FAILURE() << "the sender never stops";
    return 0ns;
  }
  void AppendTick(Time at) {
    TickRow row;
    row.Set(row.Add("load_1m"), 1);
    ticks.Add(at, row);
    ticks.Cut();
  }

  FakeClock clock;
  FrameStream stream{"job-1", "node-1", SpoolLimits{}, clock};
  TickFramer ticks{stream};
  FakeService service;
  Sender sender{stream, [this](const std::string& body) { return service.Post(body); }, clock};
};

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

TEST_F(SenderTest, RespectsRetryAfter) {
  Append(1);
  service.scripted = {HttpAnswer{503, {{"Retry-After", "120"}}, ""}};
  EXPECT_EQ(sender.Send(), 120s);
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
  FrameStream small("job-1", "node-1", {.bytes = 1000}, clock);
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

TEST_F(SenderTest, DoesNotFollowAServiceThatAsksForNonsense) {
  Append(2);
  for (int i = 0; i < 50; ++i) service.scripted.push_back(Problem(409, "gap", 1));
  EXPECT_LE(SendAll(), 500ms);
  EXPECT_LT(service.pushes, 20);
  service.scripted = {Problem(409, "gap", 77)};
  EXPECT_NE(sender.Send(), 0ns);
  EXPECT_EQ(sender.reason(), "it asks for frame 77, which was never made");
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_EQ(service.taken.size(), 2u);
}

TEST_F(SenderTest, IgnoresALieAboutWhatWasStored) {
  Append(3);
  service.scripted = {Taken(99)};
  EXPECT_NE(sender.Send(), Sender::kNothingWaits);
  EXPECT_EQ(stream.figures().frames_waiting, 3u);
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_EQ(service.taken.size(), 3u);
}

TEST_F(SenderTest, DoesNotSpinOnAServiceThatTakesNothing) {
  Append(3);
  for (int i = 0; i < 50; ++i) service.scripted.push_back(Taken(0));
  SendAll();
  EXPECT_EQ(service.pushes, 1);
  EXPECT_EQ(stream.figures().frames_waiting, 3u);
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

TEST_F(SenderTest, GivesUpAFrameWhoseSchemaStaysUnknown) {
  AppendTick(FromMicros(1'000'000));
  service.scripted = {Problem(409, "unknown-schema"), Problem(409, "unknown-schema")};
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_NE(service.lost.find("refused"), std::string::npos);
}

TEST_F(SenderTest, HalvesUntilTheBadFrameStandsAlone) {
  Append(8);
  // Whatever contains frame 6 is refused as a whole.
  Sender careful(
      stream,
      [this](const std::string& body) -> Result<HttpAnswer> {
        const auto split = SplitPush(body);
        for (const std::string_view bytes : *split) {
          const auto head = PeekHead(bytes);
          if (head->sequence == 6 && head->kind != FrameKind::kLost)
            return Problem(400, "bad-frame");
        }
        return service.Post(body);
      },
      clock);
  for (int i = 0; i < 50 && careful.Send() != Sender::kNothingWaits; ++i) {
  }
  EXPECT_EQ(service.cursor, 8u);
  ASSERT_EQ(service.taken.size(), 8u);
  EXPECT_EQ(service.taken[5].kind, FrameKind::kLost);
  EXPECT_NE(service.lost.find(R"("first":6,"last":6,"reason":"refused")"), std::string::npos);
}

TEST_F(SenderTest, KeepsAFrameThatOnlyAProxyRefuses) {
  Append(1);
  service.scripted = {HttpAnswer{413, {}, "<html>"}};
  EXPECT_NE(sender.Send(), 0ns);
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_EQ(service.taken.size(), 1u);
}

TEST_F(SenderTest, GoesOnBehindRejectedFrames) {
  Append(3);
  service.scripted = {Taken(3, {{2, "bad-table", "rows"}})};
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_EQ(stream.figures().frames_waiting, 0u);
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

TEST_F(SenderTest, SurvivesRandomFaults) {
  // Given answers that come and go, frames still arrive once and in order.
  std::uint32_t random = 12345;
  int appended = 0;
  for (int i = 0; i < 2000; ++i) {
    random = random * 1664525 + 1013904223;
    const unsigned pick = (random >> 16) % 8;
    if (appended < 500 && pick < 3) Append(1), ++appended;
    if (pick == 4) service.scripted.push_back(Unavailable("lost"));
    if (pick == 5) service.scripted.push_back(Problem(503, "busy"));
    if (pick == 6) service.scripted.push_back(Problem(409, "gap", service.cursor + 1));
    if (pick == 7) service.scripted.push_back(HttpAnswer{200, {}, "<html>"});
    sender.Send();
  }
  service.scripted.clear();
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  ASSERT_EQ(service.taken.size(), static_cast<std::size_t>(appended));
  for (std::size_t i = 0; i < service.taken.size(); ++i) {
    EXPECT_EQ(service.taken[i].sequence, i + 1);
  }
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

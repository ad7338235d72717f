// The sender against services that break the rules of the protocol, and the ways to them.

#include "agent/send/sender.h"
#include "tests/agent/send/sender_fixture.h"

namespace stepscope {
namespace {

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

TEST_F(SenderTest, GivesUpAFrameWhoseSchemaStaysUnknown) {
  AppendTick(FromMicros(1'000'000));
  service.scripted = {Problem(409, "unknown-schema"), Problem(409, "unknown-schema")};
  EXPECT_EQ(SendAll(), Sender::kNothingWaits);
  EXPECT_NE(service.lost.find("refused"), std::string::npos);
}

TEST_F(SenderTest, HalvesUntilTheBadFrameStandsAlone) {
  Append(8);
  // A push that contains frame 6 is refused as a whole.
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

TEST_F(SenderTest, SurvivesRandomFaults) {
  // With random answers, frames still arrive once and in order.
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

}  // namespace
}  // namespace stepscope

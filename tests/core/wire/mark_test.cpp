#include "core/wire/mark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <fstream>
#include <sstream>
#include <string>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/wire/mark_message.h"

namespace stepscope {
namespace {

using Words = std::array<std::uint64_t, 3>;
constexpr std::uint64_t kMagic = 0x474e495250455453;

// The bytes that both ends must agree on; tests/python/wire_test.py reads the same file.
Json Golden() {
  std::ifstream file(STEPSCOPE_SOURCE_DIR "/tests/core/wire/mark_golden.json");
  std::stringstream text;
  text << file.rdbuf();
  auto json = ParseJson(text.str());
  EXPECT_TRUE(json.ok());
  return json.ok() ? *json : Json::object();
}

std::string HexOf(const MarkSlot& slot) {
  return ToHex({reinterpret_cast<const char*>(slot.data()), sizeof(slot)});
}

Mark Phase(Duration duration) {
  Mark mark;
  mark.kind = MarkKind::kPhase;
  mark.name = 2;
  mark.start_ns = 123'456'789'012;
  mark.duration = duration;
  mark.step = 41;
  return mark;
}

TEST(MarkSlot, HasTheGoldenBytes) {
  const Json golden = Golden()["slots"];
  Mark lost = Phase(1500us);
  lost.after_loss = true;
  Mark step = Phase(90ms);
  step.kind = MarkKind::kStep;
  step.name = 0;

  EXPECT_EQ(HexOf(EncodeMark(Phase(1500us))), golden["phase"]);
  EXPECT_EQ(HexOf(EncodeMark(Phase(5s))), golden["phase of 5 s"]);
  EXPECT_EQ(HexOf(EncodeMark(Phase(2h))), golden["phase of 2 h"]);
  EXPECT_EQ(HexOf(EncodeMark(lost)), golden["phase after a loss"]);
  EXPECT_EQ(HexOf(EncodeMark(step)), golden["step"]);
  Mark metric = Phase({});
  metric.kind = MarkKind::kMetric;
  metric.value = std::bit_cast<std::uint64_t>(1480.5);
  EXPECT_EQ(HexOf(EncodeMark(metric)), golden["metric"]);
}

TEST(MarkSlot, KeepsNanosecondsUpToFourSeconds) {
  const Mark mark = DecodeMark(EncodeMark(Phase(4'294'967'295ns)));

  EXPECT_EQ(mark.duration, 4'294'967'295ns);
  EXPECT_FALSE(mark.clamped);
}

TEST(MarkSlot, KeepsMicrosecondsAbove) {
  const Mark mark = DecodeMark(EncodeMark(Phase(4'294'967'296ns)));

  EXPECT_EQ(mark.duration, 4'294'967us);
  EXPECT_FALSE(mark.clamped);
}

TEST(MarkSlot, SaysThatItIsClamped) {
  const Mark mark = DecodeMark(EncodeMark(Phase(2h)));

  EXPECT_EQ(mark.duration, 4'294'967'295us);
  EXPECT_TRUE(mark.clamped);
}

TEST(MarkSlot, MakesNegativeDurationsZero) {
  EXPECT_EQ(DecodeMark(EncodeMark(Phase(-1s))).duration, 0s);
}

TEST(MarkSlot, ReadsAnyFourWords) {
  const Mark mark = DecodeMark({~0ull, ~0ull, ~0ull, ~0ull});

  EXPECT_EQ(static_cast<int>(mark.kind), 0xffff);
  EXPECT_EQ(mark.duration, 4'294'967'295us);
}

TEST(RingHead, TakesWhatThePackageWrites) {
  const auto head = DecodeRingHead(Words{kMagic, 1 | 8192ull << 32, 5'000'000'000});

  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->slots, 8192u);
  EXPECT_EQ(head->clock_base, 5s);
}

TEST(RingHead, NamesWhatIsWrong) {
  EXPECT_EQ(DecodeRingHead(Words{1, 2, 3}).error().message, "ring: wrong magic");
  EXPECT_THAT(DecodeRingHead(Words{kMagic, 2 | 64ull << 32, 0}).error().message,
              testing::HasSubstr("version 2"));
  for (const std::uint64_t slots : {0ull, 1ull, 65ull, 131'072ull, 0xffff'ffffull}) {
    EXPECT_FALSE(DecodeRingHead(Words{kMagic, 1 | slots << 32, 0}).ok()) << slots;
  }
}

}  // namespace
}  // namespace stepscope

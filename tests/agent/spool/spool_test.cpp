#include "agent/spool/spool.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "agent/spool/frame_stream.h"
#include "tests/support/fake_clock.h"

namespace stepscope {
namespace {

constexpr SteadyTime kNow{1h};

void Append(Spool& spool, std::size_t bytes = 10) {
  const std::uint64_t number = spool.next();
  const auto at_us = static_cast<std::int64_t>(number) * 1000;
  spool.Append({.first = number,
                .last = number,
                .from_us = at_us,
                .to_us = at_us + 999,
                .samples = 5,
                .bytes = std::string(bytes, 'x')});
}

Spool Filled(int frames, SpoolLimits limits = {}) {
  Spool spool(limits);
  for (int i = 0; i < frames; ++i) Append(spool);
  return spool;
}

// "1 2-4d 5" for a frame, a range that was dropped, and a frame.
std::string Text(const Spool& spool) {
  std::string text;
  for (const SpoolRecord* record : spool.Read(1000, 1 << 30)) {
    if (!text.empty()) text += ' ';
    text += std::to_string(record->first);
    if (record->last != record->first) text += "-" + std::to_string(record->last);
    if (!record->lost.empty()) text += record->lost[0];
  }
  return text;
}

TEST(Spool, GivesFramesInOrderUntilTheyAreAcknowledged) {
  Spool spool = Filled(4);
  EXPECT_EQ(Text(spool), "1 2 3 4");
  spool.Acknowledge(2, kNow);
  EXPECT_EQ(Text(spool), "3 4");
  spool.Acknowledge(1, kNow);
  EXPECT_EQ(Text(spool), "3 4");
  spool.Acknowledge(4, kNow);
  EXPECT_EQ(Text(spool), "");
  EXPECT_EQ(spool.next(), 5u);
}

TEST(Spool, ReadsAtMostWhatAPushHolds) {
  const Spool spool = Filled(10);
  EXPECT_EQ(spool.Read(3, 1000).size(), 3u);
  EXPECT_EQ(spool.Read(100, 35).size(), 3u);
  EXPECT_EQ(spool.Read(100, 1).size(), 1u);
}

TEST(Spool, LosesTheOldestWhenItIsFullAndSaysSo) {
  const Spool spool = Filled(10, {.bytes = 30});
  EXPECT_EQ(Text(spool), "1-7d 8 9 10");
  const SpoolRecord& lost = *spool.Read(1, 0)[0];
  EXPECT_EQ(lost.from_us, 1000);
  EXPECT_EQ(lost.to_us, 7999);
  EXPECT_EQ(lost.samples, 35u);
  EXPECT_EQ(spool.figures().frames_lost, 7u);
  EXPECT_EQ(spool.figures().frames_waiting, 3u);
}

TEST(Spool, LosesAFrameThatIsLargerThanItself) {
  Spool spool({.bytes = 30});
  Append(spool, 100);
  EXPECT_EQ(Text(spool), "1d");
}

TEST(Spool, ShortensALostRangeWhoseStartTheServiceHadStored) {
  Spool spool = Filled(10, {.bytes = 30});
  spool.Acknowledge(3, kNow);
  EXPECT_EQ(Text(spool), "4-7d 8 9 10");
  spool.Acknowledge(7, kNow);
  EXPECT_EQ(Text(spool), "8 9 10");
}

TEST(Spool, RewindsIntoWhatItKept) {
  Spool spool = Filled(5);
  spool.Acknowledge(4, kNow);
  ASSERT_TRUE(spool.Rewind(2));
  EXPECT_EQ(Text(spool), "2 3 4 5");
}

TEST(Spool, RewindsToWhatItNoLongerHasByALostRange) {
  Spool spool = Filled(6, {.kept_bytes = 20});
  spool.Acknowledge(5, kNow);
  ASSERT_TRUE(spool.Rewind(1));
  EXPECT_EQ(Text(spool), "1-3d 4 5 6");
}

TEST(Spool, ForgetsWhatWasKeptLongEnough) {
  Spool spool = Filled(3);
  spool.Acknowledge(2, kNow);
  spool.Acknowledge(3, kNow + 11min);
  ASSERT_TRUE(spool.Rewind(1));
  EXPECT_EQ(Text(spool), "1-2d 3");
}

TEST(Spool, SkipsWhatTheServiceHasAlready) {
  Spool spool = Filled(5);
  ASSERT_TRUE(spool.Rewind(4));
  EXPECT_EQ(Text(spool), "4 5");
  ASSERT_TRUE(spool.Rewind(6));
  EXPECT_EQ(Text(spool), "");
}

TEST(Spool, RefusesNumbersThatWereNeverUsed) {
  Spool spool = Filled(3);
  EXPECT_FALSE(spool.Rewind(0));
  EXPECT_FALSE(spool.Rewind(5));
  EXPECT_FALSE(spool.Rewind(UINT64_MAX));
  EXPECT_EQ(Text(spool), "1 2 3");
}

TEST(Spool, PutsALostNumberInThePlaceOfARefusedFrame) {
  Spool spool = Filled(3);
  EXPECT_TRUE(spool.Refuse(2));
  EXPECT_FALSE(spool.Refuse(2));
  EXPECT_FALSE(spool.Refuse(9));
  EXPECT_EQ(Text(spool), "1 2r 3");
}

TEST(Spool, KeepsDroppedAndRefusedRangesApart) {
  Spool spool = Filled(3, {.bytes = 30});
  spool.Refuse(2);
  for (int i = 0; i < 3; ++i) Append(spool);
  EXPECT_EQ(Text(spool), "1d 2r 3d 4 5 6");
}

TEST(Spool, CountsBytesThroughEveryChange) {
  Spool spool({.bytes = 100});
  for (int i = 0; i < 5; ++i) Append(spool);
  spool.Replace(1, std::string(30, 'y'));
  spool.Refuse(2);
  spool.Acknowledge(1, kNow);
  spool.Rewind(1);
  // 30 + 10 + 10 + 10 wait; four more of ten fit.
  for (int i = 0; i < 4; ++i) Append(spool);
  EXPECT_EQ(spool.figures().frames_lost, 1u);
  Append(spool);
  EXPECT_EQ(spool.figures().frames_lost, 2u);
}

TEST(SpoolLimits, ManyStreamsShareTheMemoryOfOne) {
  const SpoolLimits whole;
  const SpoolLimits part = whole.SharedBy(64);
  EXPECT_LE(64 * part.bytes, whole.bytes);
  EXPECT_LE(64 * part.kept_bytes, whole.kept_bytes);
  EXPECT_LE(64 * part.gathered_bytes, 2 * whole.gathered_bytes);
  EXPECT_EQ(whole.SharedBy(1).bytes, whole.bytes);
  EXPECT_GE(whole.SharedBy(100'000).bytes, 16u * 1024);
  EXPECT_EQ((SpoolLimits{.bytes = 30}.SharedBy(8).bytes), 30u);
}

TEST(FrameStream, GivesRoomToOthersWhileThereAreSome) {
  const test::FakeClock clock;
  const SpoolLimits whole{.bytes = 512 * 1024};
  const FrameContent event{.kind = FrameKind::kLifecycle, .payload = std::string(10'000, 'x')};
  const auto lost_of = [&](FrameStream& stream) {
    const std::uint64_t before = stream.figures().frames_lost;
    for (int i = 0; i < 40; ++i) stream.Append(event);
    return stream.figures().frames_lost - before;
  };
  StreamCount count;
  FrameStream stream({"job", "node"}, whole, clock, nullptr, &count);
  EXPECT_EQ(lost_of(stream), 0u);
  std::vector<std::unique_ptr<StreamCount::Member>> others;
  for (int i = 0; i < 7; ++i) others.push_back(std::make_unique<StreamCount::Member>(&count));
  EXPECT_GT(lost_of(stream), 60u);
  EXPECT_LE(stream.figures().frames_waiting, 6u);
  others.clear();
  EXPECT_EQ(lost_of(stream), 0u);
}

}  // namespace
}  // namespace stepscope

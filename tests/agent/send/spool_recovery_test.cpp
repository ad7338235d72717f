// The spool after damage, failures and a full disk.

#include <set>

#include "core/base/log.h"
#include "tests/agent/send/spool_world.h"

namespace stepscope {
namespace {

using test::SpoolWorld;

struct SpoolRecovery : testing::Test {
  static void SetUpTestSuite() { StartLog("spool_recovery_test", LogLevel::kError); }
};

// Simulates an agent whose service was away for minutes: joined frames, events and parts are on
// disk.
void FillAndKill(SpoolWorld& world) {
  world.service.up = false;
  for (int i = 0; i < 40; ++i) {
    world.AppendTable(3);
    if (i % 15 == 7) world.AppendEvent(2'000);
    world.clock.Advance(3s);
    (void)world.Store();
  }
  ASSERT_TRUE(world.taken_at_risk.empty());
  world.Kill(false);
}

// Returns true for a cut, which may fall between two records.
bool Damage(std::string& bytes, std::mt19937_64& dice) {
  const std::size_t at = dice() % bytes.size(), count = 1 + dice() % 64;
  const auto kind = dice() % 4;
  if (kind == 0) bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice() % 8));
  if (kind == 1) bytes.resize(at);
  if (kind == 2) bytes.erase(at, count);
  if (kind == 3) bytes.replace(at, count, count, '\0');
  return kind == 1;
}

TEST_F(SpoolRecovery, SurvivesTenThousandDamagesAndTellsOfEach) {
  std::size_t silent = 0;
  for (int i = 0; i < 10'000; ++i) {
    SpoolWorld damaged(1);
    FillAndKill(damaged);
    damaged.dice.seed(i);
    const auto paths = damaged.files->Paths();
    const std::string& path = paths[damaged.dice() % paths.size()];
    const bool cut = Damage(damaged.files->Content(path), damaged.dice);
    damaged.DeliverAll();
    ASSERT_TRUE(damaged.Doubled().empty()) << i;
    const bool told = damaged.service.numbers_lost > 0;
    silent += !damaged.Missing().empty() && !told && !cut;
  }
  EXPECT_EQ(silent, 0u);
}

TEST_F(SpoolRecovery, CostsOneBlockForOneFlippedByte) {
  SpoolWorld world(1);
  FillAndKill(world);
  const auto path = world.files->Paths().front();
  std::string& bytes = world.files->Content(path);
  bytes[bytes.size() / 2] ^= 1;
  world.DeliverAll();
  EXPECT_EQ(world.service.numbers_lost, 1u);
  EXPECT_LE(world.Missing().size(), 120u);
}

// One of the calls fails; the disk works again afterwards, for the next Store.
TEST_F(SpoolRecovery, LosesNothingByAnySingleFailureOfACall) {
  for (const Code code : {Code::kInternal, Code::kUnavailable}) {
    for (std::uint64_t call = 1;; ++call) {
      SpoolWorld world(7);
      world.files->FailAt(call, code);
      world.service.up = false;
      for (int i = 0; i < 30; ++i) {
        world.AppendTable(3);
        if (i == 11) world.AppendEvent();
        world.clock.Advance(4s);
        (void)world.Store();
        world.Send();
      }
      for (int i = 0; i < 2; ++i) {
        world.clock.Advance(301s);
        (void)world.Store();
      }
      ASSERT_TRUE(world.taken_at_risk.empty()) << "call " << call;
      if (!world.files->failed()) break;
      world.Kill(true);
      world.DeliverAll();
      ASSERT_TRUE(world.Missing().empty()) << "call " << call << " " << world.Missing().size();
      ASSERT_TRUE(world.Doubled().empty()) << "call " << call;
    }
  }
}

// An agent that joins parts after its start may fail at any call and be killed; the next one reads
// from memory bytes that never got to the disk, and then the power fails.
TEST_F(SpoolRecovery, LosesNoPartsByAFailureWhenTheyAreJoined) {
  for (std::uint64_t call = 1;; ++call) {
    bool failed = false;
    for (unsigned seed = 1; seed <= 8; ++seed) {
      SpoolWorld world(seed);
      world.service.up = false;
      world.AppendEvent();
      world.clock.Advance(6s);
      ASSERT_TRUE(world.Store());
      world.AppendTable(2);
      ASSERT_TRUE(world.Store());
      world.Kill(false);
      world.Start();
      world.files->FailAt(call, Code::kInternal);
      (void)world.Store();
      failed |= world.files->failed();
      world.Kill(false);
      world.files->FailNothing();
      world.Start();
      (void)world.Store();
      world.Kill(true);
      world.DeliverAll();
      ASSERT_TRUE(world.Missing().empty()) << "call " << call << ", seed " << seed;
      ASSERT_TRUE(world.Doubled().empty()) << "call " << call << ", seed " << seed;
    }
    if (failed) continue;
    EXPECT_GT(call, 5u);
    return;
  }
}

// A removal is not synced: the first part may come back when all of them are in a frame.
TEST_F(SpoolRecovery, LosesNothingOfAFrameWhosePartsComeBack) {
  for (std::uint64_t call = 1;; ++call) {
    bool failed = false;
    for (unsigned seed = 1; seed <= 16; ++seed) {
      SpoolWorld world(seed);
      world.service.up = false;
      world.AppendEvent();
      world.clock.Advance(6s);
      ASSERT_TRUE(world.Store());
      world.AppendTable(2);
      ASSERT_TRUE(world.Store());
      world.clock.Advance(2s);
      world.AppendTable(3);
      world.AppendEvent();
      ASSERT_TRUE(world.Store());
      world.Kill(true);
      world.files->FailAt(call, Code::kInternal);
      world.Start();
      (void)world.Store();
      failed |= world.files->failed();
      world.Kill(true);
      world.DeliverAll();
      ASSERT_TRUE(world.Missing().empty()) << "call " << call << ", seed " << seed;
      ASSERT_TRUE(world.Doubled().empty()) << "call " << call << ", seed " << seed;
    }
    if (failed) continue;
    EXPECT_GT(call, 10u);
    return;
  }
}

TEST_F(SpoolRecovery, DropsTheOldestWhenTheFolderIsFullAndTellsHowMany) {
  SpoolWorld world(1, 4 * kSegmentBytes);
  world.service.up = false;
  for (int i = 0; i < 40; ++i) {
    world.AppendEvent(300'000);
    world.clock.Advance(6s);
    ASSERT_TRUE(world.Store());
    ASSERT_LE(world.files->used(), 4 * kSegmentBytes);
  }
  const std::uint64_t lost = world.live.stream->figures().frames_lost;
  EXPECT_GT(lost, 20u);
  world.Kill(false);
  world.DeliverAll();
  EXPECT_EQ(world.service.numbers_lost, lost);
  EXPECT_EQ(world.Missing().size(), lost);
  EXPECT_EQ(*world.service.samples.rbegin(), (std::pair<const std::int64_t, int>{40, 1}));
}

TEST_F(SpoolRecovery, MakesRoomOnAFullDiskByTheOldest) {
  SpoolWorld world(1);
  world.files->SetRoom(4 * kSegmentBytes);
  world.service.up = false;
  for (int i = 0; i < 40; ++i) {
    world.AppendEvent(300'000);
    world.clock.Advance(6s);
    (void)world.Store();
  }
  EXPECT_TRUE(world.Store());
  EXPECT_GT(world.live.stream->figures().frames_lost, 0u);
}

TEST_F(SpoolRecovery, RewindsIntoSegmentsThatWereAcknowledged) {
  SpoolWorld world(1);
  world.service.up = false;
  for (int i = 0; i < 5; ++i) world.AppendEvent();
  world.clock.Advance(6s);
  ASSERT_TRUE(world.Store());
  world.service.up = true;
  world.Send();
  ASSERT_EQ(world.live.stream->acknowledged(), 5u);
  (void)world.Store();
  // The service was restored from a backup.
  world.service.cursors.clear();
  world.service.samples.clear();
  world.AppendEvent();
  for (int i = 0; i < 3; ++i) world.Send();
  EXPECT_EQ(world.service.samples.size(), 6u);
  EXPECT_EQ(world.service.numbers_lost, 0u);
}

TEST_F(SpoolRecovery, TouchesNoDiskWhileTheServiceAnswers) {
  SpoolWorld world(1);
  world.service.up = true;
  const std::uint64_t before = world.files->calls();
  for (int i = 0; i < 100; ++i) {
    world.AppendTable(4);
    world.clock.Advance(2s);
    world.Send();
    (void)world.Store();
  }
  EXPECT_EQ(world.files->calls(), before);
}

}  // namespace
}  // namespace stepscope

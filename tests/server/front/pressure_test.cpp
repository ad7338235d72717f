#include "server/front/pressure.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(Judge, SaysNothingAtRest) {
  EXPECT_EQ(Judge({}).pressure, Pressure::kNone);
  EXPECT_EQ(
      Judge({.queue = 0.49, .bodies = 0.49, .connections = 0.89, .commit_p95 = 999ms}).pressure,
      Pressure::kNone);
}

TEST(Judge, RefusesBulkReadersFirstAndFramesLast) {
  EXPECT_EQ(Judge({.queue = 0.5}).pressure, Pressure::kBulk);
  EXPECT_EQ(Judge({.queue = 0.9}).pressure, Pressure::kFrames);
  EXPECT_EQ(Judge({.bodies = 0.5}).pressure, Pressure::kBulk);
  EXPECT_EQ(Judge({.bodies = 1.0}).pressure, Pressure::kFrames);
  EXPECT_EQ(Judge({.commit_p95 = 1s}).pressure, Pressure::kBulk);
  EXPECT_EQ(Judge({.commit_p95 = 5s}).pressure, Pressure::kFrames);
}

// A push that has waited too long is refused by its own queue (push_lanes_test.cpp).
TEST(Judge, PushesThatWaitNeverStopTheFramesOfOthers) {
  EXPECT_EQ(Judge({.wait = 0.49}).pressure, Pressure::kNone);
  EXPECT_EQ(Judge({.wait = 1.0}).pressure, Pressure::kBulk);
}

TEST(Judge, ManyConnectionsNeverStopFrames) {
  EXPECT_EQ(Judge({.connections = 1.0}).pressure, Pressure::kBulk);
}

TEST(Judge, NamesTheWorstReason) {
  const Judgement worst = Judge({.queue = 0.6, .bodies = 0.95, .commit_p95 = 2s});
  EXPECT_EQ(worst.pressure, Pressure::kFrames);
  EXPECT_EQ(ToText(worst.shortage), "bodies");
  EXPECT_EQ(Judge({.storage_low = true}).shortage, Shortage::kStorage);
}

TEST(Judge, RefusesChangesOnlyWhereTheDiskIsNearlyFull) {
  EXPECT_EQ(Judge({.storage_low = true}).pressure, Pressure::kFrames);
  const Judgement full = Judge({.queue = 1, .storage_low = true, .storage_nearly_full = true});
  EXPECT_EQ(full.pressure, Pressure::kChanges);
  EXPECT_EQ(full.shortage, Shortage::kStorage);
}

TEST(PressureGauge, CountsTheChangesThatItRefuses) {
  Load load{.queue = 1, .storage_low = true};
  PressureGauge gauge([&] { return load; });
  gauge.Update();
  EXPECT_FALSE(gauge.Refuses(Traffic::kChanges));
  load.storage_nearly_full = true;
  gauge.Update();
  EXPECT_TRUE(gauge.Refuses(Traffic::kChanges));
  EXPECT_FALSE(gauge.Refuses(Traffic::kPeople));
  EXPECT_EQ(gauge.refused(Traffic::kChanges), 1u);
}

TEST(PressureGauge, PeopleAreNeverRefused) {
  Load load{.queue = 1, .bodies = 1, .connections = 1, .commit_p95 = 1h, .storage_low = true};
  PressureGauge gauge([&] { return load; });
  EXPECT_FALSE(gauge.Refuses(Traffic::kFrames)) << "nothing was judged yet";
  gauge.Update();
  EXPECT_FALSE(gauge.Refuses(Traffic::kPeople));
  EXPECT_TRUE(gauge.Refuses(Traffic::kBulk));
  EXPECT_TRUE(gauge.Refuses(Traffic::kFrames));
  EXPECT_EQ(gauge.refused(Traffic::kBulk), 1u);
  EXPECT_EQ(gauge.refused(Traffic::kFrames), 1u);

  load = {};
  gauge.Update();
  EXPECT_FALSE(gauge.Refuses(Traffic::kFrames));
}

}  // namespace
}  // namespace stepscope

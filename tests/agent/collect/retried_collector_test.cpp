#include "agent/collect/retried_collector.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/eventually.h"

namespace stepscope {
namespace {

// State of the source that the table's functions make, which take no more than a root.
std::atomic<bool> is_there, has_ended, starts;
std::atomic<int> attempts;

class CountedCollector : public Collector {
 public:
  Status Collect(SteadyTime, TickRow& row) override {
    if (has_ended) return Unavailable("the driver is gone");
    row.Set(row.Add("load_1m"), 7);
    return {};
  }
  std::vector<GpuFacts> Gpus() const override { return std::vector<GpuFacts>(2); }
  bool Starting() const override { return starts; }
  bool Ended() const override { return has_ended; }
};

Result<std::unique_ptr<Collector>> Make(const std::string&, TickRow&) {
  ++attempts;
  if (!is_there) return NotFound("no driver");
  return std::unique_ptr<Collector>(std::make_unique<CountedCollector>());
}

constexpr CollectorKind kKind{"test", Make, true};

class Retried : public testing::Test {
 protected:
  Retried() {
    is_there = true;
    has_ended = starts = false;
    attempts = 0;
  }
  std::unique_ptr<Collector> Made(bool is_missed = true) {
    return RetryCollector(kKind, "", Make("", row_), is_missed);
  }
  bool ShowsAt(Collector& collector, Duration since_start) {
    TickRow row;
    collector.Begin(SteadyTime(1h) + since_start);
    said_ = collector.Collect(SteadyTime(1h) + since_start, row);
    return row.At("load_1m") == 7;
  }

  TickRow row_;
  Status said_;
};

TEST_F(Retried, IsReadFromTheBeginningWhereItIsThere) {
  const auto collector = Made();
  EXPECT_TRUE(ShowsAt(*collector, 0s));
  EXPECT_EQ(collector->Gpus().size(), 2u);
  EXPECT_FALSE(collector->Starting());
  starts = true;
  EXPECT_TRUE(collector->Starting());
  EXPECT_EQ(collector->Shortfall(), "");
  EXPECT_TRUE(ShowsAt(*collector, 1h));
  EXPECT_EQ(attempts, 1);
}

TEST_F(Retried, IsAskedForOnceAMinuteUntilItComes) {
  is_there = false;
  const auto collector = Made();
  EXPECT_FALSE(ShowsAt(*collector, 0s));
  EXPECT_EQ(collector->Shortfall(), "no driver");
  EXPECT_TRUE(collector->Gpus().empty());
  is_there = true;
  EXPECT_FALSE(ShowsAt(*collector, 59s));
  EXPECT_EQ(attempts, 1);
  EXPECT_TRUE(Eventually([&] { return ShowsAt(*collector, 60s); }));
  EXPECT_EQ(attempts, 2);
  EXPECT_EQ(collector->Shortfall(), "");
}

TEST_F(Retried, OneThatEndsIsMadeAnew) {
  const auto collector = Made(false);
  EXPECT_TRUE(ShowsAt(*collector, 0s));
  has_ended = true;
  EXPECT_FALSE(ShowsAt(*collector, 10s));
  EXPECT_EQ(collector->Shortfall(), "the driver is gone") << "it was there, so it is missed";
  EXPECT_TRUE(collector->Gpus().empty());
  has_ended = false;
  EXPECT_FALSE(ShowsAt(*collector, 11s));
  EXPECT_FALSE(ShowsAt(*collector, 70s));
  EXPECT_EQ(said_.error().message, "the driver is gone") << "and not that it works again";
  EXPECT_EQ(attempts, 1);
  EXPECT_TRUE(Eventually([&] { return ShowsAt(*collector, 71s); }));
  EXPECT_TRUE(said_);
  EXPECT_EQ(attempts, 2);
  EXPECT_EQ(collector->Shortfall(), "");
}

TEST_F(Retried, OneThatNeverReadIsMissedOnlyIfItWasBefore) {
  starts = has_ended = true;
  const auto missed = Made(true), other = Made(false);
  for (const Duration at : {0s, 1s}) {
    EXPECT_FALSE(ShowsAt(*missed, at));
    EXPECT_FALSE(said_);
  }
  EXPECT_EQ(missed->Shortfall(), "the driver is gone");
  for (const Duration at : {0s, 1s}) {
    EXPECT_FALSE(ShowsAt(*other, at));
    EXPECT_TRUE(said_);
  }
  EXPECT_EQ(other->Shortfall(), "");
}

TEST_F(Retried, NobodyIsToldOfWhatNobodyMisses) {
  is_there = false;
  const auto collector = Made(false);
  EXPECT_FALSE(ShowsAt(*collector, 0s));
  EXPECT_EQ(collector->Shortfall(), "");
  is_there = true;
  EXPECT_TRUE(Eventually([&] { return ShowsAt(*collector, 61s); }));
}

}  // namespace
}  // namespace stepscope

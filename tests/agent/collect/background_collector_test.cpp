#include "agent/collect/background_collector.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "tests/support/eventually.h"

namespace stepscope {
namespace {

// A driver that answers while its gate is open.
struct Driver {
  Guarded<bool> open{true};
  Guarded<int> makes{0};

  void Answer() {
    open.Wait({}, 1min, [](bool value) { return value; });
  }
  void Open(bool value) {
    open.Change([&](bool& is) { is = value; });
  }
};

class Reader : public Collector {
 public:
  Reader(Driver& driver, TickRow& row)
      : driver_(driver), column_(row.Add("rdma_link_bytes_per_second", "a:1")) {}

  Status Collect(SteadyTime, TickRow& row) override {
    driver_.Answer();
    row.Set(column_, 7);
    return {};
  }

 private:
  Driver& driver_;
  std::size_t column_;
};

// The ticks are half a second apart, however long they take here.
struct AsideBench {
  explicit AsideBench(const BackgroundOptions& options) {
    row.Add("load_1m");  // so that its column numbers differ from ours
    // The thread may outlive the test.
    auto made = CollectInBackground(
        [driver = driver](TickRow& own) {
          driver->Answer();
          driver->makes.Change([](int& count) { ++count; });
          return Result<std::unique_ptr<Collector>>(std::make_unique<Reader>(*driver, own));
        },
        options);
    EXPECT_TRUE(made.ok());
    collector = std::move(*made);
  }
  ~AsideBench() { driver->Open(true); }

  Status Tick() {
    row.Clear();
    now += 500ms;
    collector->Begin(now);
    return collector->Collect(now, row);
  }
  bool Shows() const { return row.At("rdma_link_bytes_per_second", "a:1") == 7; }
  bool TicksUntilItShows() {
    const SteadyTime until = SystemClock().Steady() + 1min;
    while (!Shows() && SystemClock().Steady() < until) {
      (void)Tick();
      std::this_thread::yield();
    }
    return Shows();
  }

  std::shared_ptr<Driver> driver = std::make_shared<Driver>();
  TickRow row;
  SteadyTime now{1h};
  std::unique_ptr<Collector> collector;
};

// Only a hang makes readings late, so all others may be waited for.
const BackgroundOptions kPatient{.name = "test", .start = 1min, .reading = 1min};
const BackgroundOptions kHasty{.name = "test", .start = 1min, .reading = 1ms, .hangs_after = 100ms};

TEST(CollectInBackground, ShowsTheReadingOfTheTickThatAsked) {
  AsideBench aside(kPatient);
  ASSERT_TRUE(aside.Tick());
  EXPECT_TRUE(aside.Shows());
  EXPECT_EQ(aside.row.size(), 2u);
  ASSERT_TRUE(aside.Tick());
  EXPECT_TRUE(aside.Shows());
}

TEST(CollectInBackground, IsReadAsOftenAsItsPeriodSays) {
  AsideBench aside({.name = "test", .period = 1s, .start = 1min, .reading = 1min});
  ASSERT_TRUE(aside.Tick());
  EXPECT_TRUE(aside.Shows());
  ASSERT_TRUE(aside.Tick());
  EXPECT_FALSE(aside.Shows());
  ASSERT_TRUE(aside.Tick());
  EXPECT_TRUE(aside.Shows());
}

TEST(CollectInBackground, HoldsUpNoTickWhileTheDriverHangsAndBeginsAnew) {
  AsideBench aside(kHasty);
  ASSERT_TRUE(aside.TicksUntilItShows());
  aside.driver->Open(false);
  while (aside.Tick()) {
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(aside.Tick().error().message, "test: the driver does not answer");
    EXPECT_FALSE(aside.Shows());
  }
  EXPECT_EQ(aside.collector->Shortfall(), "test: the driver does not answer");
  aside.driver->Open(true);
  EXPECT_TRUE(aside.TicksUntilItShows());
  EXPECT_EQ(aside.row.size(), 2u);
  EXPECT_GE(aside.driver->makes.Read([](int count) { return count; }), 2);
}

TEST(CollectInBackground, FailsAsItsMakerDoes) {
  const auto made = CollectInBackground(
      [](TickRow&) -> Result<std::unique_ptr<Collector>> { return NotFound("no port"); }, kPatient);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message, "no port");
}

TEST(CollectInBackground, OneThatFailsLateSaysItAndHasEnded) {
  const auto driver = std::make_shared<Driver>();
  driver->Open(false);
  const auto made = CollectInBackground(
      [driver](TickRow&) -> Result<std::unique_ptr<Collector>> {
        driver->Answer();
        return NotFound("no port");
      },
      {.name = "test", .start = 1ms});
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE((*made)->Ended());
  driver->Open(true);
  EXPECT_TRUE(Eventually([&] { return (*made)->Ended(); }));
  TickRow row;
  EXPECT_EQ((*made)->Collect(SteadyTime(1h), row).error().message, "no port");
}

}  // namespace
}  // namespace stepscope

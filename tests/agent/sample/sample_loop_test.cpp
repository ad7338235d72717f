#include "agent/sample/sample_loop.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "tests/support/fake_clock.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using test::FakeClock;

// The loop under a clock that the test moves. It wakes each interval to read the clock, and has
// read it once before a test begins.
class ClockJumps : public testing::Test {
 protected:
  void SetUp() override {
    const std::size_t asked = clock_.asked();
    loop_.emplace(
        sampler_,
        [this](Time at, const TickRow&) { ticks_.Change([&](auto& all) { all.push_back(at); }); },
        interval_, clock_);
    while (clock_.asked() == asked) std::this_thread::yield();
  }
  // The time of the next tick.
  Time Next() {
    const std::size_t before = seen_++;
    EXPECT_TRUE(ticks_.Wait({}, 30s, [&](const auto& all) { return all.size() > before; }));
    return ticks_.Read([&](const auto& all) { return all.size() > before ? all[before] : Time(); });
  }

  const test::FakeRoot root_;
  FakeClock clock_{Time(1'000'000s)};
  Sampler sampler_{root_.path(), clock_};
  const Guarded<Duration> interval_{20ms};
  Guarded<std::vector<Time>> ticks_;
  std::size_t seen_ = 0;
  std::optional<SampleLoop> loop_;
};

TEST_F(ClockJumps, TicksThatWereSleptThroughAreNotMadeUp) {
  clock_.Advance(20ms);
  EXPECT_EQ(Next(), Time(1'000'000s + 20ms));
  clock_.Advance(24h);  // a suspend
  EXPECT_EQ(Next(), Time(1'000'000s + 24h + 20ms));
  clock_.Advance(20ms);
  EXPECT_EQ(Next(), Time(1'000'000s + 24h + 40ms));
}

TEST_F(ClockJumps, AClockThatIsSetBackIsFollowedAtOnce) {
  clock_.Advance(20ms);
  EXPECT_EQ(Next(), Time(1'000'000s + 20ms));
  clock_.Set(Time(900'000s));
  EXPECT_EQ(Next(), Time(900'000s));
  clock_.Advance(20ms);
  EXPECT_EQ(Next(), Time(900'000s + 20ms));
}

TEST_F(ClockJumps, AClockThatIsSetForwardIsFollowedAtOnce) {
  clock_.Advance(20ms);
  EXPECT_EQ(Next(), Time(1'000'000s + 20ms));
  clock_.Set(Time(2'000'000s + 13ms));
  EXPECT_EQ(Next(), Time(2'000'000s)) << "on the grid";
}

TEST(SampleLoop, TakesAChangeOfItsIntervalAtOnce) {
  const test::FakeRoot root;
  const SystemClock clock;
  Sampler sampler(root.path(), clock);
  Guarded<Duration> interval(60s);  // far longer than the test
  Guarded<std::vector<Time>> ticks;
  const SampleLoop loop(
      sampler,
      [&](Time at, const TickRow&) { ticks.Change([&](auto& all) { all.push_back(at); }); },
      interval, clock);
  interval.Change([](Duration& value) { value = 100ms; });
  EXPECT_TRUE(ticks.Wait({}, 30s, [](const auto& all) { return all.size() >= 3; }));
  for (const Time at : ticks.Read([](const auto& all) { return all; })) {
    EXPECT_EQ(at.time_since_epoch() % 100ms, 0ns) << "ticks lie on the grid";
  }
}

}  // namespace
}  // namespace stepscope

#include "agent/sample/sample_loop.h"

#include <gtest/gtest.h>

#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

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

// Removing gives way to ingest.

#include <atomic>
#include <chrono>
#include <thread>

#include "server/compact/retention.h"
#include "tests/server/compact/compact_fixture.h"
#include "tests/support/fake_clock.h"

namespace stepscope {
namespace {

class RetentionRestTest : public CompactTest {
 protected:
  RetentionRestTest() {
    for (std::int64_t i = 0; i < 3; ++i) job_.StoreTicks({"user.a", ""}, {kNow + i});
    EXPECT_TRUE(DeleteJob(*connection_, "gone", "deleted", kNow));
  }
  std::int64_t Left() {
    return connection_->Query("select count(*) from frames where job_id = $1", {job_.job_id()})
        .value()
        .Int(0, 0);
  }

  static constexpr std::int64_t kNow = 1'800'000'000'000'000;
  JobFrames job_{*connection_, "gone"};
  test::FakeClock clock_{FromMicros(kNow)};
  std::atomic<bool> short_ = true;
  RetentionOptions options_{.check_every = 5ms,
                            .pause = 0ms,
                            .gives_way = [this] { return short_.load(); },
                            .rows_at_once = 1};
};

TEST_F(RetentionRestTest, PiecesWaitWhilePushesDoAndGoOnAfterwards) {
  Retention retention(store_, clock_, options_);
  ASSERT_TRUE(Eventually([&] { return Left() == 2; })) << "the first piece has nothing to wait for";
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(Left(), 2);
  short_ = false;
  EXPECT_TRUE(Eventually([&] { return Left() == 0; }));
}

TEST_F(RetentionRestTest, ItEndsAtOnceThoughItWaits) {
  const auto began = std::chrono::steady_clock::now();
  {
    Retention retention(store_, clock_, options_);
    ASSERT_TRUE(Eventually([&] { return Left() == 2; }));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 9s) << "a piece waits for ten";
}

TEST(PauseAfter, IsManyTimesWhatThePieceTookAndNeverLong) {
  const RetentionOptions options{.pause = 20ms, .pause_factor = 10};
  EXPECT_EQ(PauseAfter(options, 1ms), 20ms);
  EXPECT_EQ(PauseAfter(options, 50ms), 500ms);
  EXPECT_EQ(PauseAfter(options, 60s), 10s) << "that piece waited for a lock";
}

}  // namespace
}  // namespace stepscope

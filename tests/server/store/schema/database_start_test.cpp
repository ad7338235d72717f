#include "server/store/schema/database_start.h"

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

// An address where nobody listens.
constexpr char kNowhere[] = "postgresql://someone@127.0.0.1:1/nothing";

Duration TimeOf(const auto& work) {
  const SteadyTime began = SystemClock().Steady();
  work();
  return SystemClock().Steady() - began;
}

TEST(MigrateWhenUp, MigratesADatabaseThatIsUp) {
  const TestDatabase database = TestDatabase::Empty();
  ASSERT_TRUE(MigrateWhenUp(database.url(), 0s));
  EXPECT_TRUE(database.Connect()->Query("select count(*) from jobs"));
}

TEST(MigrateWhenUp, WaitsForOneThatIsNotThere) {
  const Duration waited = TimeOf([] {
    const Status failed = MigrateWhenUp(kNowhere, 1s);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Code::kUnavailable);
  });
  EXPECT_GE(waited, 1s);
}

// A server that is up, but knows no such user, refuses well before the hour is over.
TEST(MigrateWhenUp, BelievesARefusal) {
  const TestDatabase database = TestDatabase::Empty();
  const Status refused = MigrateWhenUp(database.url() + "_other", 1h);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("_other"), std::string::npos) << refused.error().message;
}

TEST(MigrateWhenUp, DoesNotWaitWithAnAddressThatCannotWork) {
  const Duration waited = TimeOf([] {
    const Status failed = MigrateWhenUp(Format("{}?sslmode=nonsense", kNowhere), 20s);
    EXPECT_NE(failed.error().message.find("sslmode"), std::string::npos);
  });
  EXPECT_LT(waited, 15s);
}

TEST(MigrateWhenUp, EndsWhenAskedTo) {
  EXPECT_FALSE(MigrateWhenUp(kNowhere, 1h, [](Duration) { return false; }));
}

}  // namespace
}  // namespace stepscope

// Events of a job, as people read them.

#include "server/store/jobs/job_events.h"

#include <gtest/gtest.h>

#include "tests/support/postgres.h"

namespace stepscope {
namespace {

class JobEvents : public testing::Test {
 protected:
  TestDatabase database_;
  std::unique_ptr<Connection> connection_ = database_.Connect();
};

TEST_F(JobEvents, TheNewestComeFirstPageByPage) {
  for (const std::int64_t at_us : {30, 10, 20, 20, 50}) {
    ASSERT_TRUE(AddEvent(*connection_, 7, {at_us, "frames_lost", "n1", 3, {{"reason", "full"}}}));
    ASSERT_TRUE(AddEvent(*connection_, 8, {at_us, "frames_lost", "n1"}));
  }
  std::vector<std::int64_t> times;
  std::string cursor;
  do {
    const auto page = ListEvents(*connection_, 7, cursor, 2);
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(page->total, 5);
    for (const JobEvent& event : page->items) {
      times.push_back(event.at_us);
      EXPECT_EQ(event.count, 3);
      EXPECT_EQ(event.detail, Json({{"reason", "full"}}));
    }
    cursor = page->next;
  } while (!cursor.empty());
  EXPECT_EQ(times, (std::vector<std::int64_t>{50, 30, 20, 20, 10}));
  EXPECT_EQ(ListEvents(*connection_, 7, "nonsense", 2).error().code, Code::kInvalid);
}

// Writes events as an older service did.
TEST_F(JobEvents, OneWithoutACountIsOne) {
  ASSERT_TRUE(connection_->Execute(
      "insert into events (job_id, at_us, kind, detail) values (7, 1, 'frames_lost', '{}')"));
  const auto page = ListEvents(*connection_, 7, "", 50);
  ASSERT_TRUE(page && page->items.size() == 1);
  EXPECT_EQ(page->items[0].count, 1);
}

}  // namespace
}  // namespace stepscope

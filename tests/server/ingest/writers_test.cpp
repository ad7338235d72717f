// Several threads that write, as where Citus spreads jobs over machines.

#include <gtest/gtest.h>

#include <thread>

#include "core/base/text.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

constexpr std::size_t kAgents = 8, kJobs = 4, kPushes = 25;

class SeveralWriters : public IngestTest {
 protected:
  void PushAll(Ingest& ingest) {
    std::vector<std::jthread> agents;
    for (std::size_t i = 0; i < kAgents; ++i) {
      agents.emplace_back([this, &ingest, i] { PushAs(ingest, i); });
    }
  }
  void PushAs(Ingest& ingest, std::size_t i) {
    FrameMaker agent(Format("job-{}", i % kJobs), Format("n{}", i));
    ExpectStored(ingest.Push(test::PushOf({agent.Started()})), 1);
    for (std::size_t push = 1; push <= kPushes; ++push) {
      const auto at_us = kStartUs + static_cast<std::int64_t>(push) * 2'000'000;
      ExpectStored(ingest.Push(test::PushOf({agent.Ticks(at_us)})), push + 1);
    }
  }
};

TEST_F(SeveralWriters, StoreEachStreamInOrderAndOnce) {
  IngestOptions options;
  options.writers = 4;
  Ingest ingest(store_, clock_, options);
  PushAll(ingest);
  EXPECT_EQ(Frames(), static_cast<std::int64_t>(kAgents * kPushes));
  EXPECT_EQ(Count("select count(*) from jobs"), static_cast<std::int64_t>(kJobs));
  EXPECT_EQ(Count("select count(distinct (job_id, session, sequence)) from frames"), Frames());
  EXPECT_EQ(ingest.figures().duplicate_rows, 0u);
  EXPECT_EQ(ingest.figures().queue_bytes, 0u);
}

// Where Citus is, frames come by way of their streams. A row of pg_extension stands in for it.
TEST_F(SeveralWriters, StoreTheSameWhereCitusIs) {
  const auto maker = database_.ConnectAsSuperuser();
  const Status made = maker->Execute(
      "insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)"
      " select 16000, 'citus', usesysid, 'public'::regnamespace, false, 'stand-in' from pg_user"
      " where usename = current_user and not exists (select from pg_extension where extname ="
      " 'citus')");
  ASSERT_TRUE(made) << made.error().message;
  Database spread(database_.url(), 8);
  IngestOptions options;
  options.writers = 4;
  Ingest ingest(spread, clock_, options);
  PushAll(ingest);
  EXPECT_EQ(Frames(), static_cast<std::int64_t>(kAgents * kPushes));
  EXPECT_EQ(Count("select count(*) from frames join streams using (job_id, session)"), Frames());
}

}  // namespace
}  // namespace stepscope

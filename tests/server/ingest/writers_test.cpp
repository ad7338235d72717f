// Several threads that write, as where Citus spreads jobs over machines.

#include <gtest/gtest.h>

#include <cstdlib>
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

// Where Citus is, pushes are stored by other statements. A row of pg_extension stands in for it.
class WhereCitusIs : public SeveralWriters {
 protected:
  WhereCitusIs() {
    Make(
        "insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, "
        "extversion)"
        " select 16000, 'citus', usesysid, 'public'::regnamespace, false, 'stand-in' from pg_user"
        " where usename = current_user and not exists (select from pg_extension where extname ="
        " 'citus')");
  }
  void Make(const std::string& script) {
    const Status made = database_.ConnectAsSuperuser()->Execute(script);
    ASSERT_TRUE(made) << made.error().message;
  }
  // This database says that it keeps all jobs itself, at that address.
  void KeepAllAt(const std::string& host) {
    Make(
        Format("create table pg_dist_placement (shardid bigint, groupid int);"
               "create table pg_dist_node (nodeid int, groupid int, nodename text, nodeport int,"
               " noderole text);"
               "create function get_shard_id_for_distribution_column(text, bigint) returns bigint"
               " language sql as 'select 1::bigint';"
               "insert into pg_dist_placement values (1, 7);"
               "insert into pg_dist_node values (7, 7, {}, current_setting('port')::int,"
               " 'primary');"
               "grant select on pg_dist_placement, pg_dist_node to public",
               host));
  }
  void ExpectAllStored() {
    Database spread(database_.url(), 8);
    IngestOptions options;
    options.writers = 4;
    Ingest ingest(spread, clock_, options);
    PushAll(ingest);
    EXPECT_EQ(Frames(), static_cast<std::int64_t>(kAgents * kPushes));
    EXPECT_EQ(Count("select count(*) from frames join streams using (job_id, session)"), Frames());
    EXPECT_EQ(Count("select sum(stored)::bigint from streams"),
              static_cast<std::int64_t>(kAgents * (kPushes + 1)));
    EXPECT_EQ(ingest.figures().duplicate_rows, 0u);
  }
};

TEST_F(WhereCitusIs, StoreTheSame) {
  ExpectAllStored();
}

TEST_F(WhereCitusIs, StoreTheSamePastTheCoordinator) {
  if (std::getenv("STEPSCOPE_CITUS_URL")) GTEST_SKIP() << "it has tables of these names";
  KeepAllAt("current_setting('unix_socket_directories')");
  ExpectAllStored();
}

TEST_F(WhereCitusIs, AskTheCoordinatorWhereAMachineTakesNoConnections) {
  if (std::getenv("STEPSCOPE_CITUS_URL")) GTEST_SKIP() << "it has tables of these names";
  KeepAllAt("'/nowhere'");
  ExpectAllStored();
}

}  // namespace
}  // namespace stepscope

// Jobs with as many nodes, ranks, answers and traces as somebody likes: what is read is bounded.

#include <gtest/gtest.h>

#include <set>

#include "core/base/text.h"
#include "server/store/jobs/job_list.h"
#include "server/store/jobs/job_lock.h"
#include "server/store/jobs/job_sizes.h"
#include "server/store/jobs/windows.h"
#include "server/store/rules/create_job.h"
#include "server/store/traces/traces.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

class CrowdedJob : public ::testing::Test {
 protected:
  CrowdedJob() : connection_(database_.Connect()) { job_id_ = Create("train"); }

  std::int64_t Create(const std::string& name) {
    NewJob job;
    job.name = name;
    job.configuration = {{"interval_ms", 500}};
    return CreateJob(*connection_, job, 1'000)->job.job_id;
  }
  void AddNodes(std::int64_t job_id, int count) {
    Run(Format(R"(insert into nodes (job_id, name, facts, first_seen_us, last_seen_us)
                  select {}, 'n' || i, '{{"gpus": [{{}}, {{}}], "allows": ["spans"]}}', 1, 1
                  from generate_series(1, {}) as i)",
               job_id, count));
  }
  void AddWindow(int window_id, const char* source) {
    Run(Format(R"(insert into windows (job_id, window_id, start_step, num_steps, asked_us, until_us,
                      source) values ({}, {}, 1, 1, 1, 2, '{}'))",
               job_id_, window_id, source));
  }
  void Run(const std::string& sql) {
    const Status done = connection_->Execute(sql);
    ASSERT_TRUE(done) << done.error().message;
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
  std::int64_t job_id_ = 0;
};

TEST_F(CrowdedJob, AWindowIsReadWithItsFirstAnswersAndTheirNumber) {
  AddNodes(job_id_, 1'500);
  for (int window = 1; window <= 2; ++window) {
    AddWindow(window, "asked");
    Run(Format(R"(insert into window_answers
                  select job_id, {}, name::bytea, node_id, node_id, node_id > 1, 'because', 2, 1
                  from nodes where job_id = {})",
               window, job_id_));
  }
  const auto window = FindWindow(*connection_, job_id_, 1);
  ASSERT_TRUE(window) << window.error().message;
  EXPECT_EQ(window->answers.size(), 1'000U);
  EXPECT_EQ(window->answers.front().node, "n1") << "the first in time";
  EXPECT_EQ(window->answer_count, 1'500);
  EXPECT_EQ(window->recorded_count, 1'499);
  EXPECT_EQ(window->sent, 3'000);
  EXPECT_EQ(window->dropped, 1'500);
  const auto page = ListWindows(*connection_, job_id_, "", 50);
  ASSERT_EQ(page->items.size(), 2U);
  for (const WindowRow& listed : page->items) {
    EXPECT_EQ(listed.answers.size(), 20U);
    EXPECT_EQ(listed.answer_count, 1'500);
  }
}

TEST_F(CrowdedJob, AWindowThatAllHaveAnsweredIsOver) {
  AddNodes(job_id_, 30);
  Run(R"(update nodes set last_seen_us = 1000000)");
  const auto asked =
      AskForWindow(*connection_, job_id_, {.start_step = 5, .num_steps = 1}, 1'000'000);
  ASSERT_TRUE(asked) << asked.error().message;
  const auto status = [&] {
    const auto page = ListWindows(*connection_, job_id_, "", 1);
    return WindowStateOf(page->items.at(0), *LoadJob(*connection_, job_id_),
                         *ListNodes(*connection_, job_id_, kWindowFacts), 1'000'001)
        .status;
  };
  EXPECT_EQ(status(), WindowStatus::kOpen);
  Run(R"(insert into window_answers
         select job_id, 1, name::bytea, node_id, 1, true, '', 1, 0 from nodes where name <> 'n30')");
  EXPECT_EQ(status(), WindowStatus::kOpen) << "one of 30 has not answered, and 20 are listed";
  Run(R"(insert into window_answers
         select job_id, 1, name::bytea, node_id, 1, true, '', 1, 0 from nodes where name = 'n30')");
  EXPECT_EQ(status(), WindowStatus::kRecorded);
}

TEST_F(CrowdedJob, AListOfTracesHasTheFirstOfEachWindow) {
  for (int window = 1; window <= 3; ++window) {
    AddWindow(window, "trace");
    Run(Format(R"(insert into traces
                  select {}, {}, rank, '', int4send(rank + 100 * {}), 1, 1, 2, 1,
                      '{{"evidence": {{"a": 1}}, "bytes": 7}}'
                  from generate_series(0, 19) as rank)",
               job_id_, window, window));
  }
  const auto traces = ListTraces(*connection_, job_id_, {2, 3}, 8);
  ASSERT_TRUE(traces) << traces.error().message;
  ASSERT_EQ(traces->size(), 16U);
  EXPECT_EQ(traces->at(8).window_id, 3);
  EXPECT_EQ(traces->at(15).rank, 7);
  EXPECT_EQ(traces->at(0).summary, Json({{"bytes", 7}})) << "what rules are told is not shown";
  const auto counts = CountTraces(*connection_, job_id_, {2, 3});
  EXPECT_EQ(*counts, (std::map<std::int64_t, std::int64_t>{{2, 20}, {3, 20}}));
}

TEST_F(CrowdedJob, AWindowIsDeletedWhenNobodyWritesToTheJob) {
  AddWindow(1, "trace");
  const auto other = database_.Connect();
  Result<Transaction> writes = Transaction::Begin(*other);
  ASSERT_TRUE(writes && LockJob(*other, job_id_));
  const auto remove = [&] {
    Result<Transaction> transaction = Transaction::Begin(*connection_);
    Run("set local lock_timeout = '50ms'");
    const Status deleted = DeleteWindow(*connection_, job_id_, 1);
    return deleted ? transaction->Commit() : deleted;
  };
  const Status waits = remove();
  ASSERT_FALSE(waits.ok());
  EXPECT_EQ(waits.error().code, Code::kUnavailable);
  ASSERT_TRUE(writes->Commit());
  EXPECT_TRUE(remove().ok());
}

TEST_F(CrowdedJob, RanksAreReadInPieces) {
  Run(Format(R"(insert into ranks (job_id, rank, node_id, facts, first_seen_us)
                select {}, rank, 1, '{{"backend": "nccl", "other": "x"}}', 1
                from generate_series(0, 4999) as rank)",
             job_id_));
  constexpr std::string_view kNamed[] = {"backend"};
  std::size_t pieces = 0;
  std::set<int> seen;
  const Status read =
      ReadRanksInPieces(*connection_, job_id_, kNamed, [&](const std::vector<RankRow>& some) {
        ++pieces;
        for (const RankRow& rank : some) {
          seen.insert(rank.rank);
          EXPECT_EQ(rank.facts, Json({{"backend", "nccl"}}));
        }
      });
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(seen.size(), 5'000U);
  EXPECT_EQ(*seen.rbegin(), 4'999);
  EXPECT_EQ(pieces, 3U);
}

// The facts of nodes are not read of a job that would have too many of them.
TEST_F(CrowdedJob, AListCountsGpusOfLargeJobsAsTheFleetDoes) {
  const std::int64_t large = Create("large"), small = Create("small");
  AddNodes(job_id_, 8);
  AddNodes(large, 50);
  AddNodes(small, 3);
  Run(Format(R"(insert into job_hours (job_id, name, job_group, user_name, account, gpu, nodes,
                    gpus, ended, verdict, settled, written_us)
                values ({}, 'large', '', '', '', '', 50, 99, false, 'unknown', false, 1))",
             large));
  const auto sizes = JobSizesOf(*connection_, {job_id_, large, small}, 12);
  ASSERT_TRUE(sizes) << sizes.error().message;
  EXPECT_EQ(sizes->at(job_id_).gpus, 16);
  EXPECT_EQ(sizes->at(large).nodes, 50);
  EXPECT_EQ(sizes->at(large).gpus, 99) << "as the fleet's rows have it";
  EXPECT_EQ(sizes->at(small).gpus, 6);
  const auto page = ListJobs(*connection_, {});
  ASSERT_EQ(page->items.size(), 3U);
  for (const JobListItem& item : page->items) EXPECT_EQ(item.gpus, 2 * item.nodes);
}

}  // namespace
}  // namespace stepscope

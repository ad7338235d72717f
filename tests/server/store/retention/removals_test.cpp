// Deletion of a job while its rules change, and the cost of finding old rows.

#include "server/store/retention/removals.h"

#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "core/base/text.h"
#include "server/store/postgres/cursor.h"
#include "server/store/retention/removal_pieces.h"
#include "server/store/rules/create_job.h"
#include "server/store/rules/rule_changes.h"
#include "server/store/webhooks/deliveries.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

constexpr int kRounds = 30;

class Removals : public testing::Test {
 protected:
  void Create(const std::string& name) {
    NewJob job;
    job.name = name;
    for (int i = 0; i < 20; ++i) job.rules.push_back({Format("r{}", i), "Rule", {{"p", 1}}});
    const auto created = CreateJob(*connection_, job, 1'000);
    ASSERT_TRUE(created.ok()) << created.error().message;
    job_id_ = created->job.job_id;
  }
  std::int64_t Tasks() { return connection_->Query("select count(*) from rule_tasks")->Int(0, 0); }
  void AwaitSomebodyWhoWaitsForARow() {
    const std::string waiting =
        "select count(*) from pg_stat_activity where datname = current_database() and "
        "wait_event_type = 'Lock'";
    while (connection_->Query(waiting)->Int(0, 0) == 0) std::this_thread::yield();
  }
  // Adds a message that was delivered long ago; returns its number.
  std::int64_t AddMessage(std::int64_t job_id) {
    return connection_
        ->Query(
            "insert into deliveries (webhook_id, job_id, event, body, state, due_us, created_us) "
            "values (1, $1, 'e', 'text', 'delivered', 1, 1) returning delivery_id",
            {job_id})
        ->Int(0, 0);
  }
  // Removals of jobs from a number on that ended long ago.
  void EndRemovals(std::int64_t job_id, int count) {
    const auto ended = connection_->Query(
        "insert into removals (job_id, name, reason, asked_us, quiet_us, ended_us) "
        "select $1 + n, 'n', 'age', 1, 1, 1 from generate_series(0, $2::bigint - 1) as n",
        {job_id, count});
    ASSERT_TRUE(ended) << ended.error().message;
  }
  // Another session asks for the message again, and has not committed when the statement comes to
  // its row.
  void ExpectStaysAsItWasAskedForAgain(std::int64_t delivery_id,
                                       const std::function<Result<Removed>(Connection&)>& remove) {
    const auto asking = database_.Connect();
    auto again = Transaction::Begin(*asking);
    ASSERT_TRUE(RetryDelivery(*asking, delivery_id).ok());
    Result<Removed> removed = Removed{};
    std::jthread removing([&, connection = database_.Connect()] { removed = remove(*connection); });
    AwaitSomebodyWhoWaitsForARow();
    EXPECT_TRUE(again->Commit().ok());
    removing.join();
    ASSERT_TRUE(removed.ok()) << removed.error().message;
    EXPECT_EQ(removed->rows, 0);
    const auto message = LoadDelivery(*connection_, delivery_id);
    ASSERT_TRUE(message.ok()) << message.error().message;
    EXPECT_EQ(message->state, "ready");
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_ = database_.Connect();
  std::int64_t job_id_ = 0;
};

// Changes a parameter of all rules, removes one and adds one.
Status Change(Connection& connection, std::int64_t job_id) {
  auto transaction = Transaction::Begin(connection);
  const auto stand = LockRules(connection, job_id);
  if (!stand) return stand.error();
  RuleChanges changes;
  for (const RuleConfigRow& rule : *stand) {
    if (rule.name != "r0") changes.put.push_back({rule.name, rule.rule, {{"p", 2}}});
  }
  changes.put.push_back({"new", "Rule", {{"p", 1}}});
  changes.removed.push_back("r0");
  const Status changed = ChangeRules(connection, job_id, *stand, changes, 2'000, "");
  return changed ? transaction->Commit() : changed;
}

Status Delete(Connection& connection, const std::string& name) {
  auto transaction = Transaction::Begin(connection);
  const Status deleted = DeleteJob(connection, name, "deleted", 2'000);
  return deleted ? transaction->Commit() : deleted;
}

// PostgreSQL would end one of two that wait for each other.
TEST_F(Removals, AndChangesOfTheRulesDoNotWaitForEachOther) {
  std::barrier ready(2);
  int changed = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string name = Format("job-{}", round);
    Create(name);
    Status change;
    std::jthread other([&, connection = database_.Connect()] {
      ready.arrive_and_wait();
      change = Change(*connection, job_id_);
    });
    ready.arrive_and_wait();
    const Status gone = Delete(*connection_, name);
    other.join();
    EXPECT_TRUE(gone.ok()) << gone.error().message;
    if (change.ok()) ++changed;
    EXPECT_TRUE(change.ok() || change.error().code == Code::kNotFound) << change.error().message;
    EXPECT_EQ(Tasks(), 0) << "round " << round;
  }
  RecordProperty("changed", changed);
}

// In the middle of a change, which has the tasks and is about to take the job.
TEST_F(Removals, WaitBeforeTheJobForWhoeverHasItsRules) {
  Create("train");
  const auto changing = database_.Connect();
  auto change = Transaction::Begin(*changing);
  ASSERT_TRUE(LockRules(*changing, job_id_).ok());
  ASSERT_TRUE(changing->Query("update rule_tasks set due_us = 1 where job_id = $1", {job_id_}));
  Status gone;
  std::jthread deleting(
      [&, connection = database_.Connect()] { gone = Delete(*connection, "train"); });
  AwaitSomebodyWhoWaitsForARow();
  const auto taken = changing->Query("update jobs set deliveries = 1 where job_id = $1", {job_id_});
  EXPECT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_TRUE(change->Commit().ok());
  deleting.join();
  EXPECT_TRUE(gone.ok()) << gone.error().message;
  EXPECT_EQ(Tasks(), 0);
}

TEST_F(Removals, AMessageOfAGoneJobThatIsAskedForAgainIsSentFirst) {
  Create("train");
  ASSERT_TRUE(Delete(*connection_, "train").ok());
  while (RemoveSome(*connection_, job_id_, 100, 2'000)->rows > 0) {
  }
  ExpectStaysAsItWasAskedForAgain(AddMessage(job_id_), [&](Connection& connection) {
    return RemoveSome(connection, job_id_, 100, 3'000);
  });
}

TEST_F(Removals, AMessageThatIsAskedForAgainAfterTheRemovalIsSentFirst) {
  EndRemovals(job_id_ = 7, 1);
  ExpectStaysAsItWasAskedForAgain(AddMessage(job_id_), [](Connection& connection) {
    return RemoveMessagesOfGoneJobs(connection, 100);
  });
}

// The removal is needed to find the message.
TEST_F(Removals, OneThatEndedStaysWhileAMessageOfItsJobDoes) {
  EndRemovals(7, 2);
  AddMessage(7);
  const auto remove = [&] {
    return RemoveRecordsBefore(*connection_, OldRecords::kRemovals, 1'000, 100)->rows;
  };
  EXPECT_EQ(remove(), 1);
  EXPECT_EQ(connection_->Query("select job_id from removals")->Int(0, 0), 7);
  EXPECT_EQ(RemoveMessagesOfGoneJobs(*connection_, 100)->rows, 1);
  EXPECT_EQ(remove(), 1);
}

TEST_F(Removals, RecordsThatAnotherReplicaIsAtAreLeftOut) {
  EndRemovals(7, 1);
  AddMessage(0);
  AddMessage(7);
  const auto of_gone = [](Connection& connection) {
    return RemoveMessagesOfGoneJobs(connection, 100)->rows;
  };
  const auto old = [](Connection& connection) {
    return RemoveRecordsBefore(connection, OldRecords::kMessages, 1'000, 100)->rows;
  };
  // The other session has taken its lock and waits for a row.
  const auto holding = database_.Connect();
  auto held = Transaction::Begin(*holding);
  ASSERT_TRUE(holding->Query("select 1 from deliveries where job_id = 7 for update"));
  std::int64_t removed = 0;
  std::jthread other([&, connection = database_.Connect()] { removed = of_gone(*connection); });
  AwaitSomebodyWhoWaitsForARow();
  EXPECT_EQ(old(*connection_), 0);
  EXPECT_EQ(of_gone(*connection_), 0);
  EXPECT_TRUE(held->Commit().ok());
  other.join();
  EXPECT_EQ(removed, 1);
  EXPECT_EQ(old(*connection_), 1);
}

TEST_F(Removals, AnOldMessageThatIsAskedForAgainIsSentFirst) {
  ExpectStaysAsItWasAskedForAgain(AddMessage(0), [](Connection& connection) {
    return RemoveRecordsBefore(connection, OldRecords::kMessages, 1'000, 100);
  });
}

TEST_F(Removals, RulesOfAJobThatIsGoneAreNotChanged) {
  Create("train");
  ASSERT_TRUE(Delete(*connection_, "train").ok());
  EXPECT_EQ(Change(*connection_, job_id_).error().code, Code::kNotFound);
  EXPECT_EQ(Tasks(), 0);
  EXPECT_EQ(Delete(*connection_, "train").error().code, Code::kNotFound);
}

// Much that stays, of four nodes and of four ranks, and one old row of the last of each.
constexpr char kMuch[] = R"(
insert into nodes (job_id, name, first_seen_us, last_seen_us)
select 7, 'n' || n, 1, 1 from generate_series(1, 4) as n;
insert into blocks
select 7, node_id, 1000 * at, metric || '', 1, 1000 * at, 1000 * at + 999, 1, false, ''
from nodes, generate_series(1, 500) as at, generate_series(1, 20) as metric where job_id = 7;
insert into step_blocks (job_id, rank, schema_hash, from_us, to_us, rows, payload)
select 7, rank, 1, 1000 * at, 1000 * at + 999, 1, ''
from generate_series(1, 6000) as at, generate_series(0, 3) as rank;
insert into annotation_blocks (job_id, rank, window_us, schema_hash, from_us, to_us, rows, payload)
select job_id, rank, from_us, 1, from_us, to_us, rows, payload from step_blocks where job_id = 7;
insert into blocks select 7, max(node_id), 10, 'm', 1, 10, 20, 1, false, '' from nodes
where job_id = 7;
insert into step_blocks (job_id, rank, schema_hash, from_us, to_us, rows, payload)
values (7, 3, 1, 10, 20, 1, '');
insert into annotation_blocks (job_id, rank, window_us, schema_hash, from_us, to_us, rows, payload)
values (7, 3, 10, 1, 10, 20, 1, '');
analyze)";

TEST_F(Removals, FindWhatIsOldWithoutWalkingWhatStays) {
  ASSERT_TRUE(connection_->Execute(kMuch));
  for (const std::string piece : std::span(kOldPieces).first(3)) {
    for (int again = 0; again < 2; ++again) {  // then nothing is old
      const auto rows =
          connection_->Query("explain (analyze, buffers, format json)" + piece, {7, 100, 500});
      ASSERT_TRUE(rows) << rows.error().message;
      const Json plan = ReadJson(*rows, 0, 0)[0]["Plan"];
      EXPECT_LT(plan["Shared Hit Blocks"].get<int>() + plan["Shared Read Blocks"].get<int>(), 60)
          << piece;
    }
  }
  const auto left = connection_->Query(
      "select (select count(*) from blocks where to_us < 500) + (select count(*) from step_blocks "
      "where to_us < 500) + (select count(*) from annotation_blocks where to_us < 500)");
  EXPECT_EQ(left->Int(0, 0), 0);
}

constexpr char kManyRecords[] = R"(
insert into deliveries (webhook_id, job_id, event, body, state, due_us, created_us)
select 1, {}, 'e', '', 'dead', at, at from generate_series(1, 100000) as at;
insert into audit (at_us, name, action) select at, 'n', 'a' from generate_series(1, 100000) as at;
analyze)";

class OldRecordsTest : public Removals {
 protected:
  // Blocks that a statement looks at.
  int Walks(const std::string& statement, std::span<const Parameter> parameters) {
    const auto rows =
        connection_->Query("explain (analyze, buffers, format json)" + statement, parameters);
    EXPECT_TRUE(rows) << rows.error().message;
    const Json plan = ReadJson(*rows, 0, 0)[0]["Plan"];
    return plan["Shared Hit Blocks"].get<int>() + plan["Shared Read Blocks"].get<int>();
  }
};

TEST_F(OldRecordsTest, AreFoundWithoutWalkingThoseThatStay) {
  ASSERT_TRUE(connection_->Execute(Format(kManyRecords, 0)));
  for (const std::string piece : std::span(kOldRecords).first(2)) {
    for (int again = 0; again < 2; ++again) {
      EXPECT_LT(Walks(piece, std::vector<Parameter>{51, 100}), 400) << piece;
    }
  }
  const auto left = connection_->Query(
      "select (select min(created_us) from deliveries), (select min(at_us) from audit)");
  EXPECT_EQ(left->Int(0, 0), 51);
  EXPECT_EQ(left->Int(0, 1), 51);
}

// A few blocks for each removal, whatever is kept of the job that has nearly all messages.
TEST_F(OldRecordsTest, OfGoneJobsAreFoundWithoutWalkingThoseOfJobs) {
  ASSERT_TRUE(connection_->Execute(Format(kManyRecords, 5)));
  EndRemovals(1'000, 1'000);
  AddMessage(1'500);
  for (int again = 0; again < 2; ++again) {
    EXPECT_LT(Walks(kMessagesOfGoneJobs, std::vector<Parameter>{100}), 6'000);
    EXPECT_LT(Walks(kOldRecords[2], std::vector<Parameter>{0, 100}), 6'000);
    EXPECT_LT(Walks(kOldRecords[0], std::vector<Parameter>{1'000'000, 100}), 400);
  }
  EXPECT_EQ(connection_->Query("select count(*) from deliveries")->Int(0, 0), 100'000);
  EXPECT_LT(Walks(kOldRecords[2], std::vector<Parameter>{2, 1'000}), 20'000);
  EXPECT_EQ(connection_->Query("select count(*) from removals")->Int(0, 0), 0);
}

}  // namespace
}  // namespace stepscope

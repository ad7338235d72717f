#include "server/access/senders.h"

#include <gtest/gtest.h>

#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"
#include "tests/support/fake_clock.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

class SendersTest : public testing::Test {
 protected:
  static Caller Token(const std::string& name, std::vector<std::string> scopes = {}) {
    return {name, "", Role::kAgent, std::move(scopes), Caller::kToken, {}};
  }
  // The code of the refusal; "" when it may be sent.
  std::string Check(const Caller& caller, const Sending& sending) {
    const SendCheck refused = *senders_.Check(caller, sending, MayWait::kYes);
    EXPECT_TRUE(refused.ok());
    return refused && *refused ? (*refused)->code : "";
  }
  std::string Check(const Caller& caller, const std::string& node) {
    return Check(caller, {.job = "mlp", .node = node, .bytes = 1, .opens = false});
  }

  TestDatabase test_database_;
  Database database_{test_database_.url(), 2};
  test::FakeClock clock_;
  Senders senders_{database_,
                   clock_,
                   {.node_pushes = {1, 3},
                    .pushes = {10, 20},
                    .bytes = {100, 1'000},
                    .new_jobs = 1,
                    .new_nodes = 4}};
};

TEST_F(SendersTest, ACertificateIsForTheNodeWhoseNameItCarries) {
  const Caller certificate{"train-7", "", Role::kAgent, {}, Caller::kCertificate, {}};
  EXPECT_EQ(Check(certificate, "train-7"), "");
  EXPECT_EQ(Check(certificate, "train-8"), "node-bound");
  EXPECT_EQ(Check(Token("team"), "train-7"), "node-bound");
}

TEST_F(SendersTest, ABindingThatWasDeletedElsewhereEndsWithinHalfAMinute) {
  EXPECT_EQ(Check(Token("a"), "n"), "");
  ASSERT_TRUE(DeleteNodeBinding(*test_database_.Connect(), "n").ok());
  EXPECT_EQ(Check(Token("b"), "n"), "node-bound");
  clock_.Advance(30s);
  EXPECT_EQ(Check(Token("b"), "n"), "");
  EXPECT_EQ(Check(Token("a"), "n"), "node-bound");
}

// Without the database it is known who owns a node that sent within the last half minute.
TEST_F(SendersTest, WhatHasToBeAskedOfTheDatabaseIsSaidAndNotCounted) {
  const Sending push{.job = "mlp", .node = "n", .bytes = 1, .opens = false};
  const Sending opening{.job = "mlp", .node = "n", .bytes = 1, .opens = true};
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(senders_.Check(Token("a"), push, MayWait::kNo));
  EXPECT_EQ(Check(Token("a"), push), "");
  EXPECT_FALSE(senders_.Check(Token("a"), opening, MayWait::kNo));
  const auto may = senders_.Check(Token("a"), push, MayWait::kNo);
  ASSERT_TRUE(may && may->ok());
  EXPECT_FALSE(**may);
  const auto foreign = senders_.Check(Token("b"), push, MayWait::kNo);
  ASSERT_TRUE(foreign && foreign->ok() && **foreign);
  EXPECT_EQ((**foreign)->code, "node-bound");
  EXPECT_EQ(Check(Token("a"), push), "");
  const auto often = senders_.Check(Token("a"), push, MayWait::kNo);
  ASSERT_TRUE(often && often->ok() && **often) << "it has the rates of all";
  EXPECT_EQ((**often)->code, "too-many-requests");
  clock_.Advance(30s);
  EXPECT_FALSE(senders_.Check(Token("a"), push, MayWait::kNo));
  const Caller nobody{"", "", Role::kAdmin, {}, Caller::kOpen, {}};
  EXPECT_TRUE(senders_.Check(nobody, opening, MayWait::kNo));
}

TEST_F(SendersTest, ANodeThatWasReleasedHereIsFreeAtOnce) {
  EXPECT_EQ(Check(Token("a"), "n"), "");
  ASSERT_TRUE(DeleteNodeBinding(*test_database_.Connect(), "n").ok());
  senders_.ForgetNode("n");
  EXPECT_EQ(Check(Token("b"), "n"), "");
}

TEST_F(SendersTest, NewNodesAreCountedByNameAndDay) {
  for (const char* node : {"1", "2", "3", "4"}) EXPECT_EQ(Check(Token("a"), node), "");
  EXPECT_EQ(Check(Token("a"), "5"), "limit-nodes");
  EXPECT_EQ(Check(Token("b"), "5"), "");
  clock_.Advance(std::chrono::hours(24) + 1s);
  EXPECT_EQ(Check(Token("a"), "6"), "");
}

TEST_F(SendersTest, AJobThatStandsIsNoNewOne) {
  const Sending opening{.job = "second", .node = "n", .bytes = 1, .opens = true};
  auto connection = test_database_.Connect();
  NewJob first{.name = "first", .group = "", .configuration = {}, .rules = {}, .created_by = "a"};
  ASSERT_TRUE(CreateJob(*connection, first, ToMicros(clock_.Now())).ok());
  EXPECT_EQ(Check(Token("a"), opening), "limit-jobs");
  first.name = "second";
  first.created_by = "b";
  ASSERT_TRUE(CreateJob(*connection, first, ToMicros(clock_.Now())).ok());
  EXPECT_EQ(Check(Token("a"), opening), "");
}

TEST_F(SendersTest, TooMuchAtOnceHasToWaitForItsTime) {
  const Sending large{.job = "mlp", .node = "n", .bytes = 600, .opens = false};
  EXPECT_EQ(Check(Token("a"), large), "");
  const SendCheck refused = *senders_.Check(Token("a"), large, MayWait::kYes);
  ASSERT_TRUE(refused.ok() && *refused);
  EXPECT_EQ((*refused)->code, "too-many-requests");
  EXPECT_EQ((*refused)->retry_after, 2s);
  clock_.Advance(2s);
  EXPECT_EQ(Check(Token("a"), large), "");
  // A push that is larger than the burst still goes when nothing else does.
  clock_.Advance(1h);
  EXPECT_EQ(Check(Token("a"), {.job = "mlp", .node = "n", .bytes = 5'000, .opens = false}), "");
}

TEST_F(SendersTest, ANodeHasItsOwnRate) {
  for (int count = 0; count < 3; ++count) EXPECT_EQ(Check(Token("a"), "n"), "");
  EXPECT_EQ(Check(Token("a"), "n"), "too-many-requests");
  EXPECT_EQ(Check(Token("a"), "m"), "");
}

TEST_F(SendersTest, ADatabaseThatIsAwayIsAnErrorAndNoRefusal) {
  Database nowhere("postgresql:///none?host=/nowhere", 1);
  Senders blind(nowhere, clock_);
  const SendCheck refused =
      *blind.Check(Token("a"), {.job = "j", .node = "n", .bytes = 1, .opens = true}, MayWait::kYes);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace stepscope

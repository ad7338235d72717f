#include "server/access/senders.h"

#include <gtest/gtest.h>

#include "server/access/issue.h"
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
  // As ingest does with the first frame that it stores.
  void Bind(const Caller& caller, const std::string& node) {
    const auto bound = BindNodes(*test_database_.Connect(), {{node, MakerOf(caller), true}},
                                 ToMicros(clock_.Now()));
    ASSERT_TRUE(bound.ok()) << bound.error().message;
  }
  std::string CheckAndBind(const Caller& caller, const std::string& node) {
    const std::string refused = Check(caller, node);
    if (refused.empty()) Bind(caller, node);
    return refused;
  }
  static Caller Certificate(const std::string& name) {
    return {name, "", Role::kAgent, {}, Caller::kCertificate, {}};
  }
  static Caller OfProxy(const std::string& name) {
    return {name, "", Role::kOperator, {}, Caller::kProxy, {}};
  }
  IssuedToken Issue(const TokenOrder& order) {
    const auto issued =
        IssueToken(*test_database_.Connect(), order, "test", ToMicros(clock_.Now()));
    EXPECT_TRUE(issued.ok()) << issued.error().message;
    return issued ? *issued : IssuedToken();
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
                    .new_nodes = 4,
                    .imports = {0.1, 2},
                    .import_bytes = {10, 1'000}}};
};

TEST_F(SendersTest, ACertificateIsForTheNodeWhoseNameItCarries) {
  EXPECT_EQ(CheckAndBind(Certificate("train-7"), "train-7"), "");
  EXPECT_EQ(Check(Certificate("train-7"), "train-8"), "node-bound");
  EXPECT_EQ(Check(Token("team"), "train-7"), "node-bound");
}

TEST_F(SendersTest, ABindingThatWasDeletedElsewhereEndsWithinHalfAMinute) {
  EXPECT_EQ(CheckAndBind(Token("a"), "n"), "");
  EXPECT_EQ(Check(Token("a"), "n"), "");
  ASSERT_TRUE(DeleteNodeBinding(*test_database_.Connect(), "n").ok());
  EXPECT_EQ(Check(Token("b"), "n"), "node-bound");
  clock_.Advance(30s);
  EXPECT_EQ(CheckAndBind(Token("b"), "n"), "");
  EXPECT_EQ(Check(Token("a"), "n"), "node-bound");
}

// Without the database it is known who owns a node that sent within the last half minute.
TEST_F(SendersTest, WhatHasToBeAskedOfTheDatabaseIsSaidAndNotCounted) {
  const Sending push{.job = "mlp", .node = "n", .bytes = 1, .opens = false};
  const Sending opening{.job = "mlp", .node = "n", .bytes = 1, .opens = true};
  Bind(Token("a"), "n");
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
  EXPECT_EQ(CheckAndBind(Token("a"), "n"), "");
  EXPECT_EQ(Check(Token("a"), "n"), "");
  ASSERT_TRUE(DeleteNodeBinding(*test_database_.Connect(), "n").ok());
  senders_.ForgetNode("n");
  EXPECT_EQ(Check(Token("b"), "n"), "");
}

TEST_F(SendersTest, AskingBindsNothing) {
  EXPECT_EQ(Check(Token("a"), "n"), "");
  EXPECT_EQ(Check(Token("b"), "n"), "");
  EXPECT_FALSE(LoadNodeBinding(*test_database_.Connect(), "n").ok());
}

TEST_F(SendersTest, ANameOfOneKindIsNoneOfAnother) {
  const Caller kinds[] = {Token("n"), Certificate("n"), OfProxy("n")};
  for (const Caller& owner : kinds) {
    ASSERT_EQ(CheckAndBind(owner, "n"), "");
    for (const Caller& other : kinds) {
      EXPECT_EQ(Check(other, "n"), other.how == owner.how ? "" : "node-bound");
    }
    ASSERT_TRUE(DeleteNodeBinding(*test_database_.Connect(), "n").ok());
    senders_.ForgetNode("n");
    clock_.Advance(10s);
  }
}

TEST_F(SendersTest, ABindingOfAnEarlierVersionGoesOnForItsName) {
  ASSERT_TRUE(test_database_.Connect()
                  ->Query("insert into node_bindings (node, token_name, bound_us) "
                          "values ('n', 'n', 1), ('m', 'a', 1)")
                  .ok());
  EXPECT_EQ(Check(Certificate("n"), "n"), "");
  EXPECT_EQ(Check(Token("a"), "m"), "");
  EXPECT_EQ(Check(OfProxy("a"), "m"), "");
  EXPECT_EQ(Check(Token("b"), "m"), "node-bound");
}

TEST_F(SendersTest, ATokenForSomeNodesSendsForTheseAlone) {
  Caller some = Token("speech");
  some.nodes = {"speech-*", "old-7"};
  EXPECT_EQ(Check(some, "speech-1"), "");
  EXPECT_EQ(Check(some, "old-7"), "");
  EXPECT_EQ(Check(some, "old-77"), "forbidden");
  Bind(some, "vision-1");
  EXPECT_EQ(Check(some, "vision-1"), "forbidden");
}

TEST_F(SendersTest, NamesThatATokenWasMadeForAreReserved) {
  Bind(Token("old"), "speech-old");
  const TokenOrder order{.name = "speech", .role = Role::kAgent, .nodes = {"speech-*", "old-7"}};
  const IssuedToken issued = Issue(order);
  Caller entitled = Token("speech");
  entitled.nodes = order.nodes;
  for (const char* node : {"speech-1", "speech-", "old-7"}) {
    EXPECT_EQ(Check(Token("vision"), node), "node-bound") << node;
    EXPECT_EQ(Check(Token("speech"), node), "node-bound") << "a name alone is not enough";
    EXPECT_EQ(Check(entitled, node), "") << node;
  }
  const SendCheck said = *senders_.Check(Token("vision"), {"mlp", "speech-1"}, MayWait::kYes);
  EXPECT_NE((*said)->detail.find("reserved"), std::string::npos) << (*said)->detail;
  for (const char* node : {"speech", "aspeech-1", "old-77"}) {
    EXPECT_EQ(Check(Token("vision"), node), "") << node;
  }
  EXPECT_EQ(Check(Token("old"), "speech-old"), "") << "whoever has a node keeps it";
  EXPECT_EQ(Check(Certificate("speech-2"), "speech-2"), "") << "the authority vouches for the node";
  ASSERT_TRUE(RevokeToken(*test_database_.Connect(), issued.row.token_id, 1).ok());
  clock_.Advance(10s);
  EXPECT_EQ(Check(Token("vision"), "speech-1"), "");
}

TEST_F(SendersTest, NewNodesAreCountedByNameAndDay) {
  for (const char* node : {"1", "2", "3", "4"}) EXPECT_EQ(CheckAndBind(Token("a"), node), "");
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

TEST_F(SendersTest, TracesOfATokenForSomeNodesAreForTheirJobs) {
  const auto connection = test_database_.Connect();
  const auto job = [&](const std::string& name, const std::string& maker) {
    NewJob made{.name = name, .group = "", .configuration = {}, .rules = {}, .created_by = maker};
    return CreateJob(*connection, made, ToMicros(clock_.Now()))->job;
  };
  const JobRow own = job("own", "a"), other = job("other", "b"), shared = job("shared", "b");
  ASSERT_TRUE(connection->Query(
      "insert into nodes (job_id, name, first_seen_us, last_seen_us) values ($1, 'n7', 1, 1)",
      {shared.job_id}));
  const auto refusal = [&](const Caller& caller, const JobRow& into) {
    const SendCheck refused = senders_.CheckImport(*connection, caller, into, 1);
    EXPECT_TRUE(refused.ok());
    return refused && *refused ? (*refused)->code : "";
  };
  Caller of_nodes = Token("a");
  of_nodes.nodes = {"n*"};
  EXPECT_EQ(refusal(of_nodes, own), "");
  EXPECT_EQ(refusal(of_nodes, shared), "");
  EXPECT_EQ(refusal(of_nodes, other), "forbidden");
  EXPECT_EQ(refusal(Certificate("n7"), shared), "");
  EXPECT_EQ(refusal(Certificate("n8"), shared), "forbidden");
  EXPECT_EQ(refusal(Token("c"), other), "") << "as its scopes say";
}

TEST_F(SendersTest, TracesAreCountedByNameAndBytes) {
  const auto connection = test_database_.Connect();
  const auto code = [&](const std::string& name, std::uint64_t bytes) {
    const SendCheck refused = senders_.CheckImport(*connection, Token(name), {}, bytes);
    EXPECT_TRUE(refused.ok());
    return refused && *refused ? (*refused)->code : "";
  };
  for (int i = 0; i < 2; ++i) EXPECT_EQ(code("a", 1), "");
  EXPECT_EQ(code("a", 1), "too-many-requests");
  EXPECT_EQ(code("b", 900), "");
  EXPECT_EQ(code("b", 900), "too-many-requests");
  clock_.Advance(20s);
  EXPECT_EQ(code("a", 1), "");
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

#include "server/access/right.h"

#include <gtest/gtest.h>

#include <set>

#include "server/access/caller.h"

namespace stepscope {
namespace {

bool Allowed(Role role, Right right, bool local = false, std::vector<std::string> scopes = {}) {
  const Caller caller{"someone", "", role, std::move(scopes), Caller::kToken, {}};
  return May(role == Role::kNone ? nullptr : &caller, right, local);
}

TEST(Right, RowsStandInTheOrderOfTheRights) {
  std::set<std::string_view> words;
  for (std::size_t at = 0; at < kRights.size(); ++at) {
    EXPECT_EQ(static_cast<std::size_t>(kRights[at].right), at);
    words.insert(kRights[at].word);
  }
  EXPECT_EQ(words.size(), kRights.size());
  EXPECT_EQ(kRights.back().right, Right::kAdminister);
}

// The table of the design, once more, as sentences.
TEST(Right, NobodyIsOnlyLetToWhatIsOpen) {
  for (const RightRow& row : kRights) {
    const bool open = row.right == Right::kOpen || row.right == Right::kProbe;
    EXPECT_EQ(Allowed(Role::kNone, row.right), open) << row.word;
  }
  EXPECT_TRUE(Allowed(Role::kNone, Right::kObserve, true));
}

TEST(Right, AnAgentSendsAndReadsNoMoreThanWhetherAJobRuns) {
  EXPECT_TRUE(Allowed(Role::kAgent, Right::kSend));
  EXPECT_TRUE(Allowed(Role::kAgent, Right::kStatus));
  for (const Right right :
       {Right::kRead, Right::kChange, Right::kAlert, Right::kAdminister, Right::kObserve}) {
    EXPECT_FALSE(Allowed(Role::kAgent, right, true)) << RowOf(right).word;
  }
}

TEST(Right, AReaderReadsAndChangesNothing) {
  EXPECT_TRUE(Allowed(Role::kReader, Right::kRead));
  EXPECT_TRUE(Allowed(Role::kReader, Right::kObserve));
  for (const Right right : {Right::kSend, Right::kChange, Right::kAlert, Right::kAdminister}) {
    EXPECT_FALSE(Allowed(Role::kReader, right, true)) << RowOf(right).word;
  }
}

TEST(Right, AnOperatorDoesAllButAdminister) {
  for (const RightRow& row : kRights) {
    EXPECT_EQ(Allowed(Role::kOperator, row.right), row.right != Right::kAdminister) << row.word;
  }
}

TEST(Right, AnAdminDoesAll) {
  for (const RightRow& row : kRights) EXPECT_TRUE(Allowed(Role::kAdmin, row.right)) << row.word;
}

TEST(Right, MessagesOfAllJobsAreNotForATokenOfSome) {
  EXPECT_TRUE(Allowed(Role::kOperator, Right::kAlert));
  EXPECT_FALSE(Allowed(Role::kOperator, Right::kAlert, true, {"team-a-*"}));
}

// A higher role never has less than a lower one; an agent is beside them.
TEST(Right, RolesGrowFromReaderToAdmin) {
  for (const RightRow& row : kRights) {
    EXPECT_LE(Allowed(Role::kReader, row.right), Allowed(Role::kOperator, row.right)) << row.word;
    EXPECT_LE(Allowed(Role::kOperator, row.right), Allowed(Role::kAdmin, row.right)) << row.word;
    EXPECT_LE(Allowed(Role::kAgent, row.right), Allowed(Role::kOperator, row.right)) << row.word;
  }
}

TEST(Right, WordsOfRolesAreReadAndNoneIsNotOne) {
  for (const Role role : {Role::kAgent, Role::kReader, Role::kOperator, Role::kAdmin}) {
    EXPECT_EQ(ParseRole(ToText(role)), role);
  }
  for (const char* word : {"none", "", "Admin", "root", "admin "}) EXPECT_FALSE(ParseRole(word));
}

}  // namespace
}  // namespace stepscope

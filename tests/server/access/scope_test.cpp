#include "server/access/scope.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stepscope {
namespace {

TEST(Scope, WithoutAnyEveryJobIsCovered) {
  EXPECT_TRUE(Covers({}, "mlp"));
}

TEST(Scope, ANameCoversItselfOnly) {
  const std::vector<std::string> scopes = {"mlp", "albef-7"};
  EXPECT_TRUE(Covers(scopes, "mlp"));
  EXPECT_TRUE(Covers(scopes, "albef-7"));
  for (const char* job : {"mlp-1", "ml", "MLP", "albef", "", "*"}) {
    EXPECT_FALSE(Covers(scopes, job)) << job;
  }
}

TEST(Scope, ABeginningCoversWhatStartsWithIt) {
  const std::vector<std::string> scopes = {"team-a-*"};
  EXPECT_TRUE(Covers(scopes, "team-a-1"));
  EXPECT_TRUE(Covers(scopes, "team-a-very-long"));
  for (const char* job : {"team-a", "team-b-1", "xteam-a-1", "team-a*", "team"}) {
    EXPECT_FALSE(Covers(scopes, job)) << job;
  }
}

TEST(Scope, NamesAndBeginningsAreChecked) {
  for (const char* good : {"mlp", "a*", "team-a-*", "team--*", "A-1"}) {
    EXPECT_TRUE(CheckScope(good).ok()) << good;
  }
  const std::string longest(63, 'a');
  EXPECT_TRUE(CheckScope(longest + "*").ok());
  for (const std::string& bad :
       {std::string(), std::string("*"), std::string("-*"), std::string("a**"), std::string("*a"),
        std::string("a*b"), std::string("a b"), std::string("a%"), std::string("a-"),
        longest + "aa*", longest + "a"}) {
    EXPECT_FALSE(CheckScope(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace stepscope

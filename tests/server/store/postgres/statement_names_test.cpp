#include "server/store/postgres/statement_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stepscope {
namespace {

const std::vector<unsigned> kNone, kBig = {20}, kText = {25};

TEST(StatementNames, TheSecondUseIsPreparedAndLaterOnesUseIt) {
  StatementNames names;
  EXPECT_EQ(names.Next("select 1", kNone).name, "");
  const auto second = names.Next("select 1", kNone);
  EXPECT_TRUE(second.prepare);
  const auto third = names.Next("select 1", kNone);
  EXPECT_FALSE(third.prepare);
  EXPECT_EQ(third.name, second.name);
}

TEST(StatementNames, OtherTypesAreAnotherStatement) {
  StatementNames names;
  for (int i = 0; i < 2; ++i) names.Next("select $1", kBig);
  EXPECT_EQ(names.Next("select $1", kText).name, "");
  EXPECT_NE(names.Next("select $1", kText).name, names.Next("select $1", kBig).name);
}

TEST(StatementNames, OneThatCouldNotBePreparedIsTriedAgain) {
  StatementNames names;
  for (int i = 0; i < 2; ++i) names.Next("select 1", kNone);
  names.Forget("select 1", kNone);
  EXPECT_TRUE(names.Next("select 1", kNone).prepare);
}

TEST(StatementNames, SaysWhatIsPreparedAndCountsNothingForIt) {
  StatementNames names;
  EXPECT_EQ(names.Prepared("select 1", kNone), "");
  names.Next("select 1", kNone);
  EXPECT_EQ(names.Prepared("select 1", kNone), "");
  const std::string name = names.Next("select 1", kNone).name;
  EXPECT_EQ(names.Prepared("select 1", kNone), name);
  EXPECT_EQ(names.Prepared("select 1", kText), "");
}

TEST(StatementNames, KeepsNoMoreThanItMay) {
  StatementNames names(3);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) {
      const bool kept = i < 3;
      EXPECT_EQ(names.Next("select " + std::to_string(i), kNone).name.empty(), !kept || round == 0);
    }
  }
}

}  // namespace
}  // namespace stepscope

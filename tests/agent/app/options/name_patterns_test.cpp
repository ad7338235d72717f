#include "agent/app/options/name_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text.h"

namespace stepscope {
namespace {

using testing::HasSubstr;

bool MayName(const std::string& patterns, const std::string& job, const Account& account) {
  const auto parsed = NamePatterns::Parse(patterns);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed->Check(job, account).ok();
}

const Account kJane{.uid = 1001, .user = "jane", .group = "vision"};

TEST(NamePatterns, EveryNameIsAllowedByDefault) {
  EXPECT_TRUE(MayName("", "anything", kJane));
}

TEST(NamePatterns, TieNamesToTheUserGroupOrNumber) {
  EXPECT_TRUE(MayName("{user}-*", "jane-gpt-3", kJane));
  EXPECT_FALSE(MayName("{user}-*", "john-gpt-3", kJane));
  EXPECT_FALSE(MayName("{user}-*", "jane", kJane));
  EXPECT_TRUE(MayName("{group}-{user}-?", "vision-jane-7", kJane));
  EXPECT_TRUE(MayName("u{uid}-*", "u1001-x", kJane));
  EXPECT_FALSE(MayName("u{uid}-*", "u10012-x", kJane));
}

TEST(NamePatterns, SeveralAreAlternatives) {
  EXPECT_TRUE(MayName("{user}-*,shared-*", "shared-x", kJane));
  EXPECT_TRUE(MayName("{user}-*,shared-*", "jane-x", kJane));
  EXPECT_FALSE(MayName("{user}-*,shared-*", "x-shared", kJane));
}

TEST(NamePatterns, ANameIsTextWhateverIsInIt) {
  const Account hostile{.uid = 1, .user = "*", .group = "{uid}"};
  EXPECT_FALSE(MayName("{user}", "anything", hostile));
  EXPECT_FALSE(MayName("{group}", "1", hostile));
}

TEST(NamePatterns, AUserWithoutANameHasOnlyTheOthers) {
  const Account stranger{.uid = 4000};
  EXPECT_FALSE(MayName("{user}-*", "-x", stranger));
  EXPECT_FALSE(MayName("{user}*", "x", stranger));
  EXPECT_TRUE(MayName("{user}-*,u{uid}-*", "u4000-x", stranger));
}

TEST(NamePatterns, ManyStarsTakeNoTime) {
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*a";
  EXPECT_FALSE(MayName(pattern, std::string(62, 'a') + "b", kJane));
  EXPECT_TRUE(MayName("*a*b*", "xxaxxbxx", kJane));
}

TEST(NamePatterns, NamesItsFault) {
  EXPECT_THAT(NamePatterns::Parse("{name}-*").error().message, HasSubstr("other words"));
  EXPECT_THAT(NamePatterns::Parse("{user-*").error().message, HasSubstr("other words"));
  EXPECT_THAT(NamePatterns::Parse("a_*").error().message, HasSubstr("no job's name has"));
  EXPECT_THAT(NamePatterns::Parse("a,,b").error().message, HasSubstr("allowed are 1 to"));
}

TEST(NamePatterns, ARefusalSaysWhoAndWhatIsAllowed) {
  const auto patterns = NamePatterns::Parse("{user}-*");
  EXPECT_EQ(patterns->Check("john-x", kJane).error().message,
            "job john-x is no name for user 1001 (jane): --job-names allows {user}-*");
}

}  // namespace
}  // namespace stepscope

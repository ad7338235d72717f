#include "server/front/target.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(PercentDecode, UndoesEscapesAndKeepsThePlus) {
  EXPECT_EQ(*PercentDecode("a%2Fb+c%25"), "a/b+c%");
}

TEST(PercentDecode, RefusesHalfEscapesAndControlBytes) {
  for (const char* text : {"%", "%4", "%g0", "%00", "%0a", "a%7f", "%+1"}) {
    EXPECT_FALSE(PercentDecode(text).ok()) << text;
  }
}

TEST(ParseQuery, SplitsAtTheFirstEqualsSign) {
  const auto query = *ParseQuery("a=b=c&empty=&flag&d=e+f%26");
  ASSERT_EQ(query.size(), 4U);
  EXPECT_EQ(query[0].second, "b=c");
  EXPECT_EQ(query[1].second, "");
  EXPECT_EQ(query[2].first, "flag");
  EXPECT_EQ(query[3].second, "e f&");
}

TEST(ParseQuery, RefusesRepeatsAndPartsWithoutAName) {
  for (const char* text : {"a=1&a=2", "a=1&%61=2", "=1", "a=1&&b=2", "a=%"}) {
    EXPECT_FALSE(ParseQuery(text).ok()) << text;
  }
  EXPECT_TRUE(ParseQuery("")->empty());
}

}  // namespace
}  // namespace stepscope

#include "agent/host/process_text.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(ParseProcessStart, IsTheTwentySecondField) {
  EXPECT_EQ(ParseProcessStart("7 (a) R 1 (b) D 5 1 1 0 -1 0 9 9 9 9 3 4 0 0 20 0 1 0 4711 8 9\n"),
            4711u);
  for (const char* text :
       {"", "7 (a) R 1 5", "7 a R", "7 (a) R 5 1 1 0 -1 0 9 9 9 9 3 4 0 0 20 0 1 0 x"})
    EXPECT_EQ(ParseProcessStart(text), std::nullopt) << text;
}

TEST(ParseProcessStat, IsNotFooledByNames) {
  const auto stat = ParseProcessStat("7 (a) R 1 (b) D 5 1 1 0 -1 0 9 9 9 9 3 4 0 0\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a) R 1 (b");
  EXPECT_EQ(stat->state, 'D');
  EXPECT_EQ(stat->parent, 5);
  EXPECT_EQ(stat->cpu_ticks, 7u);
  for (const char* text :
       {"", "7", "7 (a", "7 )a( S 1", "7 (a) S", "7 (a) S 1 1 1 0", "7 (a) SS 1"}) {
    EXPECT_FALSE(ParseProcessStat(text)) << text;
  }
  EXPECT_FALSE(ParseProcessIo("read_bytes: 5\n"));
  EXPECT_FALSE(IsLoaderCommand("", ""));
}

}  // namespace
}  // namespace stepscope

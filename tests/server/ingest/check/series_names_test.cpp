#include "server/ingest/check/series_names.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

const SteadyTime kStart{1h};

// A push whose schema names the series.
CheckedPush PushOf(const std::string& sender, const std::vector<std::string>& series) {
  Schema schema;
  for (const std::string& name : series) schema.columns.push_back({name, ""});
  TableFrame table;
  table.schema = std::make_shared<const std::string>(EncodeSchema(schema));
  CheckedPush push;
  push.sender = sender;
  push.frames.push_back({1, 1, table});
  return push;
}

TEST(SeriesNames, WhatIsNamedAgainIsNotNew) {
  SeriesNames names(3);
  for (int count = 0; count < 5; ++count) {
    EXPECT_TRUE(names.Take(PushOf("a", {"one", "two", "three"}), kStart));
  }
  EXPECT_FALSE(names.Take(PushOf("a", {"one", "four"}), kStart));
  EXPECT_TRUE(names.Take(PushOf("a", {"one"}), kStart));
}

TEST(SeriesNames, WhatIsRefusedIsNotCounted) {
  SeriesNames names(3);
  EXPECT_TRUE(names.Take(PushOf("a", {"one"}), kStart));
  EXPECT_FALSE(names.Take(PushOf("a", {"2", "3", "4"}), kStart));
  EXPECT_TRUE(names.Take(PushOf("a", {"two", "three"}), kStart));
}

TEST(SeriesNames, EachSenderHasItsOwnAndEachDayBeginsAnew) {
  SeriesNames names(1);
  EXPECT_TRUE(names.Take(PushOf("a", {"one"}), kStart));
  EXPECT_TRUE(names.Take(PushOf("b", {"two"}), kStart));
  EXPECT_FALSE(names.Take(PushOf("a", {"two"}), kStart + 23h));
  EXPECT_TRUE(names.Take(PushOf("a", {"two"}), kStart + 24h));
}

TEST(SeriesNames, WhereNobodyHasToSayWhoTheyAreNothingIsCounted) {
  SeriesNames names(1);
  for (const char* name : {"one", "two"}) EXPECT_TRUE(names.Take(PushOf("", {name}), kStart));
}

}  // namespace
}  // namespace stepscope

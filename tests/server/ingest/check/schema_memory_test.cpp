#include "server/ingest/check/schema_memory.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

Schema Named(const std::string& column) {
  return {-1, {{column, "0"}, {column, "1"}}, {}};
}

TEST(SchemaMemory, FindsWhatWasAddedForTheSession) {
  SchemaMemory memory;
  EXPECT_EQ(memory.Find({"a", 1}).schema, nullptr);
  memory.Add({"a", 1}, Named("x"), 7);
  ASSERT_NE(memory.Find({"a", 1}).schema, nullptr);
  EXPECT_EQ(*memory.Find({"a", 1}).schema, Named("x"));
  EXPECT_EQ(memory.Find({"b", 1}).schema, nullptr);
  EXPECT_EQ(memory.Find({"a", 2}).schema, nullptr);
}

TEST(SchemaMemory, SharesTheSameAndNothingElse) {
  SchemaMemory memory;
  const auto first = memory.Add({"a", 1}, Named("x"), 7).schema;
  EXPECT_EQ(memory.Add({"b", 1}, Named("x"), 8).schema, first);
  EXPECT_EQ(memory.Find({"b", 1}).job_id, 8);
  const auto other = memory.Add({"c", 1}, Named("y"), 7).schema;  // who forged the hash
  EXPECT_EQ(*other, Named("y"));
  EXPECT_EQ(*memory.Find({"c", 1}).schema, Named("y"));
  EXPECT_EQ(*memory.Find({"a", 1}).schema, Named("x"));
}

TEST(SchemaMemory, ForgetsASession) {
  SchemaMemory memory({.schemas = 3, .bytes = 100'000});
  for (const char* session : {"a", "b", "c"}) memory.Add({session, 1}, Named("x"), 7);
  memory.Add({"a", 2}, Named("x"), 7);  // "a" is among the aged and the fresh
  memory.Forget("a");
  EXPECT_EQ(memory.Find({"a", 1}).schema, nullptr);
  EXPECT_EQ(memory.Find({"a", 2}).schema, nullptr);
  EXPECT_NE(memory.Find({"b", 1}).schema, nullptr);
}

TEST(SchemaMemory, KeepsWhatIsAskedForWhenItIsFull) {
  SchemaMemory memory({.schemas = 10, .bytes = 1'000'000});
  memory.Add({"in use", 1}, Named("x"), 7);
  for (int i = 0; i < 1'000; ++i) {
    memory.Add({"s" + std::to_string(i), 1}, Named("x"), 7);
    ASSERT_NE(memory.Find({"in use", 1}).schema, nullptr) << i;
  }
  int known = 0;
  for (int i = 0; i < 1'000; ++i) known += memory.Find({"s" + std::to_string(i), 1}).schema ? 1 : 0;
  EXPECT_LE(known, 20);
}

TEST(SchemaMemory, CountsBytesOfSchemasThatDiffer) {
  SchemaMemory memory({.schemas = 1'000, .bytes = 2'000});
  for (int i = 0; i < 500; ++i) memory.Add({std::to_string(i), 1}, Named("x"), 7);
  EXPECT_NE(memory.Find({"0", 1}).schema, nullptr);
  for (std::uint64_t i = 2; i < 30; ++i) memory.Add({"b", i}, Named("y" + std::to_string(i)), 7);
  EXPECT_EQ(memory.Find({"0", 1}).schema, nullptr);
  EXPECT_NE(memory.Find({"b", 29}).schema, nullptr);
}

}  // namespace
}  // namespace stepscope

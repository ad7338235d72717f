#include "core/base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace stepscope {
namespace {

TEST(ParseJson, TakesWhatIsPlain) {
  const Result<Json> json = ParseJson(R"({"a": [1, -2.5, "x", null, true]})");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ((*json)["a"][0], 1);
}

TEST(ParseJson, SaysWhatIsWrongWithoutTheText) {
  const std::string secret = R"({"password": "hunter2", )";
  EXPECT_EQ(ParseJson(secret).error().message, "JSON: a syntax error at byte 25");
}

TEST(ParseJson, RefusesWhatChokesOthers) {
  for (const char* text :
       {"", "{", "[1,]", "{\"a\":1,\"a\":2}", "[1e400]", "[9007199254740993]",
        "[-9007199254740993]", "\"\\u0000\"", "\"\\ud800\"", "[NaN]", "[1] x", "\"\xff\""}) {
    EXPECT_FALSE(ParseJson(text).ok()) << text;
  }
}

TEST(ParseJson, HoldsItsLimits) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(ParseJson(deep, {.bytes = 1'000'000}).error().message, "JSON: more than 32 levels");
  EXPECT_FALSE(ParseJson("[1,2,3,4]", {.values = 4}).ok());
  EXPECT_FALSE(ParseJson("[1,2,3,4]", {.bytes = 8}).ok());
  EXPECT_TRUE(ParseJson("[[[1]]]", {.depth = 3}).ok());
  EXPECT_FALSE(ParseJson("[[[[1]]]]", {.depth = 3}).ok());
}

TEST(Dump, NeverThrows) {
  Json json;
  json["text"] = "a\xff";
  EXPECT_EQ(Dump(json), "{\"text\":\"a\xef\xbf\xbd\"}");
}

}  // namespace
}  // namespace stepscope

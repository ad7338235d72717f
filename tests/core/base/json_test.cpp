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

TEST(ParseJson, TellsANumberOutOfRangeFromASyntaxError) {
  EXPECT_EQ(ParseJson("[1e999]").error().message, "JSON: a number out of range at byte 6");
  EXPECT_EQ(ParseJson("[-1e999, 2]").error().message, "JSON: a number out of range at byte 7");
  EXPECT_EQ(ParseJson("[1e]").error().message, "JSON: a syntax error at byte 4");
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

// Records the events of the reading; ends it at a text that asks for it.
struct Notes final : JsonSink {
  std::string seen;
  bool Note(std::string_view what) {
    seen += std::string(what) + " ";
    return true;
  }
  bool Null() override { return Note("null"); }
  bool Flag(bool value) override { return Note(value ? "true" : "false"); }
  bool Integer(std::int64_t value) override { return Note(std::to_string(value)); }
  bool Decimal(double, std::string_view text) override { return Note(text); }
  bool Text(std::string_view text) override { return Note(text) && text != "stop"; }
  bool Key(std::string_view name) override { return Note(std::string(name) + ":"); }
  bool BeginObject() override { return Note("{"); }
  bool EndObject() override { return Note("}"); }
  bool BeginArray() override { return Note("["); }
  bool EndArray() override { return Note("]"); }
};

TEST(ReadJson, ShowsEverythingInItsOrder) {
  Notes notes;
  EXPECT_TRUE(ReadJson(R"({"a": [1, -2, 41.270, 1e3, null, true], "b": {"c": "x"}})", notes).ok());
  EXPECT_EQ(notes.seen, "{ a: [ 1 -2 41.270 1e3 null true ] b: { c: x } } ");
}

TEST(ReadJson, EndsWhereTheSinkSaysSo) {
  Notes notes;
  EXPECT_FALSE(ReadJson(R"(["stop", 1])", notes).ok());
  EXPECT_EQ(notes.seen, "[ stop ");
}

TEST(ReadJson, RefusesWhatParseJsonRefuses) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1,\"a\":2}", "[1e400]", "[9007199254740993]",
                           "\"\\u0000\"", "[NaN]", "[1] x", "\"\xff\""}) {
    Notes notes;
    EXPECT_EQ(ReadJson(text, notes).error().message, ParseJson(text).error().message) << text;
  }
  Notes notes;
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(ReadJson(deep, notes, {.bytes = 1'000'000}).error().message,
            "JSON: more than 32 levels");
}

TEST(Dump, NeverThrows) {
  Json json;
  json["text"] = "a\xff";
  EXPECT_EQ(Dump(json), "{\"text\":\"a\xef\xbf\xbd\"}");
}

}  // namespace
}  // namespace stepscope

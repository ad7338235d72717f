#include "core/wire/mark_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/wire/bytes.h"

namespace stepscope {
namespace {

using testing::HasSubstr;

MarkHello Hello() {
  return {4711, 3, 1, 8, "resnet-42", "numpy 1.24.2", "3.11.2", "0.1.0"};
}

MarkHello HelloWithDevices() {
  MarkHello hello = Hello();
  hello.devices = "4,5";
  return hello;
}

std::string Header(std::uint16_t kind, std::uint16_t version = 1) {
  std::string bytes;
  Put<std::uint32_t>(bytes, 0x4b4d5353);
  Put(bytes, version);
  Put(bytes, kind);
  return bytes;
}

template <typename T>
T Decoded(const MarkMessage& message) {
  const auto decoded = DecodeMarkMessage(EncodeMarkMessage(message));
  EXPECT_TRUE(decoded.ok());
  return decoded.ok() ? std::get<T>(*decoded) : T{};
}

// tests/python/wire_test.py reads the same file.
TEST(MarkMessage, HasTheGoldenBytes) {
  std::ifstream file(STEPSCOPE_SOURCE_DIR "/tests/core/wire/mark_golden.json");
  std::stringstream text;
  text << file.rdbuf();
  const auto json = ParseJson(text.str());
  ASSERT_TRUE(json.ok());
  const Json golden = (*json)["messages"];

  const auto hex = [](const MarkMessage& message) { return ToHex(EncodeMarkMessage(message)); };
  EXPECT_EQ(hex(Hello()), golden["hello"]);
  EXPECT_EQ(hex(HelloWithDevices()), golden["hello_with_devices"]);
  EXPECT_EQ(hex(MarkRing{7}), golden["ring"]);
  EXPECT_EQ(hex(MarkNames{{{1, "augment"}, {2, "läsen"}}}), golden["names"]);
  EXPECT_EQ(hex(MarkFacts{{{"loader_num_workers", "0"}}}), golden["facts"]);
  EXPECT_EQ(hex(MarkAnswer{9, 1, "no"}), golden["answer"]);
  EXPECT_EQ(hex(MarkBye{}), golden["bye"]);
}

TEST(MarkMessage, ComesOutAsItWentIn) {
  EXPECT_EQ(Decoded<MarkHello>(Hello()).job, "resnet-42");
  EXPECT_EQ(Decoded<MarkHello>(Hello()).world_size, 8);
  EXPECT_EQ(Decoded<MarkHello>(Hello()).devices, "");
  EXPECT_EQ(Decoded<MarkHello>(HelloWithDevices()).devices, "4,5");
  EXPECT_EQ(Decoded<MarkNames>(MarkNames{{{511, "x"}}}).names[0].first, 511);
  EXPECT_EQ(Decoded<MarkFacts>(MarkFacts{{{"a", "b"}}}).facts[0].second, "b");
  EXPECT_EQ(Decoded<MarkCommand>(MarkCommand{5, "window", "10"}).argument, "10");
  EXPECT_EQ(Decoded<MarkAnswer>(MarkAnswer{5, 1, "busy"}).detail, "busy");
  const auto trace = Decoded<MarkTrace>(MarkTrace{3, 1'000, 5, 900, 1'200, 3'500, "the end"});
  EXPECT_EQ(trace.window, 3u);
  EXPECT_EQ(trace.first_step, 1'000);
  EXPECT_EQ(trace.steps, 5u);
  EXPECT_EQ(trace.save_us, 3'500u);
  EXPECT_EQ(trace.note, "the end");
}

TEST(MarkMessage, CutShortAnywhereIsRefused) {
  for (const MarkMessage& message :
       {MarkMessage(Hello()), MarkMessage(MarkNames{{{1, "augment"}}}),
        MarkMessage(MarkFacts{{{"key", "value"}}}), MarkMessage(MarkNames{{{7, "decode"}}})}) {
    const std::string bytes = EncodeMarkMessage(message);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(DecodeMarkMessage(bytes.substr(0, length)).ok()) << length;
    }
  }
}

TEST(MarkMessage, ATraceOfAnEarlierPackageSaysNotWhoAsked) {
  const std::string bytes =
      EncodeMarkMessage(MarkTrace{0, 1'000, 5, 1, 2, 3, "note", "script", 70});
  const std::size_t before = bytes.size() - 2 - 6 - 8;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(DecodeMarkMessage(bytes.substr(0, length)).ok(), length == before) << length;
  }
  const auto old = DecodeMarkMessage(bytes.substr(0, before));
  EXPECT_EQ(std::get<MarkTrace>(*old).by, "");
  EXPECT_EQ(std::get<MarkTrace>(*old).slower_us, -1);
  EXPECT_EQ(Decoded<MarkTrace>(*DecodeMarkMessage(bytes)).by, "script");
  EXPECT_EQ(Decoded<MarkTrace>(*DecodeMarkMessage(bytes)).slower_us, 70);
}

TEST(MarkMessage, SkipsWhatLaterVersionsAdd) {
  EXPECT_TRUE(DecodeMarkMessage(EncodeMarkMessage(HelloWithDevices()) + "more").ok());
  const auto unknown = DecodeMarkMessage(Header(77) + "whatever");
  ASSERT_TRUE(unknown.ok());
  EXPECT_EQ(std::get<MarkUnknown>(*unknown).kind, 77);
}

TEST(MarkMessage, RefusesByNameWhatIsNotOurs) {
  EXPECT_EQ(DecodeMarkMessage("GET / HTTP/1.1").error().message, "mark message: wrong magic");
  EXPECT_THAT(DecodeMarkMessage(Header(1, 2)).error().message, HasSubstr("version 2"));
  EXPECT_THAT(DecodeMarkMessage(std::string(9000, 'x')).error().message, HasSubstr("too long"));
}

TEST(MarkMessage, RefusesNumbersOutOfBounds) {
  MarkHello hello = Hello();
  hello.rank = -1;
  EXPECT_THAT(DecodeMarkMessage(EncodeMarkMessage(hello)).error().message, HasSubstr("rank"));
  const MarkTrace before{3, -1, 5, 1, 2, 3, ""};
  EXPECT_THAT(DecodeMarkMessage(EncodeMarkMessage(before)).error().message,
              HasSubstr("first step"));
  EXPECT_FALSE(DecodeMarkMessage(EncodeMarkMessage(MarkNames{{{0, "zero"}}})).ok());
  EXPECT_FALSE(DecodeMarkMessage(EncodeMarkMessage(MarkNames{{{512, "beyond"}}})).ok());
}

TEST(MarkMessage, RefusesCountsThatLie) {
  std::string names = Header(3);
  Put<std::uint16_t>(names, 0xffff);
  EXPECT_FALSE(DecodeMarkMessage(names).ok());
  std::string endless = Header(3);
  Put<std::uint16_t>(endless, 1);
  Put<std::uint16_t>(endless, 1);
  Put<std::uint16_t>(endless, 4000);
  EXPECT_THAT(DecodeMarkMessage(endless + std::string(4000, 'x')).error().message,
              HasSubstr("name"));
}

TEST(MarkMessage, MakesTextsSafe) {
  const auto names = Decoded<MarkNames>(MarkNames{{{1,
                                                    "a\n\x01\xff"
                                                    "b"}}})
                         .names;
  EXPECT_EQ(names[0].second,
            "a \xef\xbf\xbd"
            "b");

  const std::string broken(kMaxMarkNameBytes, '\xff');
  EXPECT_LE(Decoded<MarkNames>(MarkNames{{{1, broken}}}).names[0].second.size(), kMaxMarkNameBytes);
}

TEST(MarkMessage, CutsLongTextsBetweenCharacters) {
  std::string name(kMaxMarkNameBytes - 1, 'x');
  name += "\xc3\xa4";
  const std::string cut = Decoded<MarkNames>(MarkNames{{{1, name}}}).names[0].second;
  EXPECT_EQ(cut, std::string(kMaxMarkNameBytes - 1, 'x'));
}

}  // namespace
}  // namespace stepscope

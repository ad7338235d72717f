#include "core/wire/frame.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "core/base/text.h"
#include "core/wire/bytes.h"
#include "core/wire/crc32c.h"
#include "core/wire/push_answer.h"
#include "core/wire/table_codec.h"

namespace stepscope {
namespace {

Frame SomeFrame() {
  Frame frame;
  frame.schema =
      Schema{.rank = -1, .columns = {{"at_us", ""}, {"cpu_util_percent", "cpu0"}}, .names = {}};
  frame.head = {.kind = FrameKind::kTicks,
                .session = {1, 2, 3},
                .sequence = 4711,
                .created = FromMicros(1'795'205'614'000'000),
                .clock_offset_us = -1500,
                .round_trip_us = 800,
                .job = "resnet-42",
                .node = "node-1",
                .schema_hash = HashSchema(*frame.schema)};
  frame.payload = EncodeTable({1,
                               {{.scale = 0, .values = {1'795'205'614'000'000}, .present = {}},
                                {.scale = 2, .values = {4127}, .present = {}}}});
  return frame;
}

// Puts the right CRC behind bytes that were changed on purpose.
std::string Reseal(std::string bytes) {
  bytes.resize(bytes.size() - 4);
  const std::uint32_t crc = Crc32c(bytes);
  Put(bytes, crc);
  return bytes;
}

TEST(Crc32c, AgreesWithTheStandard) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(Crc32c("6789", Crc32c("12345")), 0xe3069283U);
  EXPECT_EQ(Crc32c(""), 0U);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);  // RFC 3720 B.4
}

TEST(Frame, ComesBackAsItWas) {
  const Frame frame = SomeFrame();
  const Result<Frame> again = DecodeFrame(EncodeFrame(frame));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->head.session, frame.head.session);
  EXPECT_EQ(again->head.sequence, 4711U);
  EXPECT_EQ(again->head.created, frame.head.created);
  EXPECT_EQ(again->head.clock_offset_us, -1500);
  EXPECT_EQ(again->head.job, "resnet-42");
  EXPECT_EQ(again->schema, frame.schema);
  EXPECT_EQ(again->payload, frame.payload);
}

// The bytes of version 1: whoever changes them breaks every agent in the field.
TEST(Frame, HasItsGoldenBytes) {
  Frame frame = SomeFrame();
  frame.payload = "p";
  EXPECT_EQ(ToHex(EncodeFrame(frame)),
            "53545346010101020300000000000000000000000000671200000000000080d7ebe0ba600600"
            "24faffffffffffff20030000000000008315342deeb23cde097265736e65742d3432066e6f64"
            "652d312401ffffffff020561745f757300106370755f7574696c5f70657263656e7404637075"
            "300001709a47cd66");
}

TEST(Frame, RefusesByName) {
  std::string other = EncodeFrame(SomeFrame());
  other[4] = 9;
  EXPECT_EQ(DecodeFrame(other).error().message,
            "frame: version 9 is not known, this service reads version 1");
  other[0] = 'X';
  EXPECT_EQ(DecodeFrame(other).error().message, "frame: not one of ours (magic)");
  EXPECT_EQ(DecodeFrame("").error().message, "frame: cut short");
  EXPECT_FALSE(DecodeFrame(std::string(kMaxFrameBytes + 1, 'x')).ok());
}

TEST(Frame, RefusesNamesAndNumbersThatCannotBe) {
  for (const auto& change : std::vector<std::function<void(Frame&)>>{
           [](Frame& frame) { frame.head.job = "../etc"; },
           [](Frame& frame) { frame.head.job = ""; },
           [](Frame& frame) { frame.head.node = "a\nb"; },
           [](Frame& frame) { frame.head.node = std::string(64, 'n'); },
           [](Frame& frame) { frame.head.sequence = 0; },
           [](Frame& frame) { frame.head.sequence = ~std::uint64_t{0}; },
           [](Frame& frame) { frame.head.kind = static_cast<FrameKind>(99); },
           [](Frame& frame) { frame.head.schema_hash ^= 1; }}) {
    Frame frame = SomeFrame();
    change(frame);
    EXPECT_FALSE(DecodeFrame(EncodeFrame(frame)).ok());
  }
}

TEST(Frame, NoticesEveryFlippedBit) {
  const std::string bytes = EncodeFrame(SomeFrame());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(DecodeFrame(damaged).ok()) << bit;
  }
}

TEST(Frame, SurvivesHostileContentWithAValidCrc) {
  std::mt19937_64 random(11);
  const std::string bytes = EncodeFrame(SomeFrame());
  for (int round = 0; round < 20'000; ++round) {
    std::string hostile = bytes;
    for (auto flips = random() % 3 + 1; flips > 0; --flips) {
      hostile[5 + random() % (hostile.size() - 9)] = static_cast<char>(random());
    }
    const Result<Frame> frame = DecodeFrame(Reseal(hostile));
    if (frame.ok()) {
      EXPECT_LE(frame->head.job.size(), 63U);
    }
  }
}

TEST(Frame, LetsTheHeadOfARefusedOneBeRead) {
  Frame frame = SomeFrame();
  frame.head.schema_hash ^= 1;
  const Result<FrameHead> head = PeekHead(EncodeFrame(frame));
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->sequence, 4711U);
}

TEST(Push, SplitsIntoItsFrames) {
  std::string push;
  AppendToPush(push, "one");
  AppendToPush(push, "three");
  EXPECT_EQ(*SplitPush(push), (std::vector<std::string_view>{"one", "three"}));
}

TEST(Push, RefusesWhatDoesNotFit) {
  std::string push;
  AppendToPush(push, "one");
  EXPECT_FALSE(SplitPush("").ok());
  for (std::size_t length = 1; length < push.size(); ++length) {
    EXPECT_FALSE(SplitPush(push.substr(0, length)).ok()) << length;
  }
  std::string many;
  for (std::size_t i = 0; i <= kMaxFramesPerPush; ++i) AppendToPush(many, "f");
  EXPECT_FALSE(SplitPush(many).ok());
}

TEST(PushAnswer, GoesBothWays) {
  const PushAnswer answer{.acknowledged = 7,
                          .expected = 8,
                          .rejected = {{5, "bad-table", "a column too many"}},
                          .server_time = FromMicros(1'795'205'614'000'000)};
  const Result<PushAnswer> again = DecodePushAnswer(EncodePushAnswer(answer));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->acknowledged, 7U);
  EXPECT_EQ(again->rejected.at(0).code, "bad-table");
  EXPECT_EQ(again->server_time, answer.server_time);
}

TEST(PushAnswer, IsNothingElse) {
  for (const char* text :
       {"", "<html>", "{}", "[]", "null", R"({"acknowledged": -1})",
        R"({"acknowledged": 1, "expected": 2, "rejected": 3, "server_time_us": 1})",
        R"({"acknowledged": "1", "expected": 2, "rejected": [], "server_time_us": 1})"}) {
    EXPECT_FALSE(DecodePushAnswer(text).ok()) << text;
  }
  EXPECT_FALSE(DecodePushProblem("{}").ok());
  EXPECT_EQ(DecodePushProblem(R"({"code": "gap", "expected": 5, "detail": "d"})")->expected, 5U);
}

TEST(Schema, KnowsItsHash) {
  const Schema one{.rank = 0, .columns = {{"step", ""}}, .names = {"augment"}};
  Schema other = one;
  other.rank = 1;
  EXPECT_EQ(*DecodeSchema(EncodeSchema(one)), one);
  EXPECT_NE(HashSchema(one), HashSchema(other));
}

TEST(Schema, RefusesLiesAboutItsSize) {
  const std::string bytes = EncodeSchema({.rank = 0, .columns = {{"step", ""}}, .names = {}});
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(DecodeSchema(bytes.substr(0, length)).ok()) << length;
  }
  EXPECT_FALSE(DecodeSchema(std::string("\x01\0\0\0\0\xff\xff\xff\xff\x0f", 10)).ok());
}

}  // namespace
}  // namespace stepscope

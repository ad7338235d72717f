#include "server/edge/head.h"

#include <gtest/gtest.h>

#include "tests/support/edge_bytes.h"

namespace stepscope {
namespace {

constexpr std::string_view kPush =
    "POST /api/v1/push?job=a%20b HTTP/1.1\r\nHost: example.org:8080\r\nContent-Length: 12\r\n"
    "Authorization:  Bearer ab%63 \t\r\nX-Empty:\r\nAccept: a\r\naccept: b\r\n\r\n";

// A whole head, or why it is none.
struct Read {
  Progress progress = Progress::kMore;
  Head head;
  std::string code, detail;
  std::size_t consumed = 0;
};

Read ReadHead(std::string_view bytes, const HeadLimits& limits = {}) {
  HeadReader reader(limits);
  Read read;
  read.progress = reader.Feed(bytes, read.consumed);
  read.head = reader.head();
  read.code = reader.refusal().code;
  read.detail = reader.refusal().detail;
  return read;
}

TEST(HeadReader, ReadsWhatWasSent) {
  const Read read = ReadHead(std::string(kPush) + "behind the head");
  ASSERT_EQ(read.progress, Progress::kDone) << read.detail;
  EXPECT_EQ(read.consumed, kPush.size());
  EXPECT_EQ(read.head.bytes, kPush.size());
  EXPECT_EQ(read.head.method, "POST");
  EXPECT_EQ(read.head.path, "/api/v1/push");
  EXPECT_EQ(read.head.query, "job=a%20b");
  EXPECT_EQ(read.head.framing, Framing::kLength);
  EXPECT_EQ(read.head.content_length, 12U);
  EXPECT_EQ(read.head.headers.at("authorization"), "Bearer ab%63");
  EXPECT_EQ(read.head.headers.at("x-empty"), "");
  EXPECT_EQ(read.head.headers.at("accept"), "a, b");
}

TEST(HeadReader, EveryCutGivesTheSame) {
  const std::string whole = HeadOutcome({kPush});
  EXPECT_EQ(HeadOutcome(CutEverywhere(kPush)), whole);
  for (std::size_t at = 0; at <= kPush.size(); ++at) {
    EXPECT_EQ(HeadOutcome(CutAt(kPush, at)), whole) << at;
  }
}

}  // namespace
}  // namespace stepscope

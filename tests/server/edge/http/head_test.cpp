#include "server/edge/http/head.h"

#include <gtest/gtest.h>

#include "tests/support/edge_bytes.h"
#include "tests/support/mutate.h"

namespace stepscope {
namespace {

constexpr std::string_view kPush =
    "POST /api/v1/push?job=a%20b HTTP/1.1\r\nHost: example.org:8080\r\nContent-Length: 12\r\n"
    "Authorization:  Bearer ab%63 \t\r\nX-Empty:\r\nAccept: a\r\naccept: b\r\n\r\n";

constexpr std::string_view kHeads[] = {
    kPush,
    "\r\nGET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
    "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n",
};

Head ReadWhole(std::string_view bytes) {
  HeadReader reader;
  std::size_t consumed = 0;
  EXPECT_EQ(reader.Feed(bytes, consumed), Progress::kDone) << reader.refusal().detail;
  return reader.head();
}

std::string With(std::string_view lines) {
  return Format("POST / HTTP/1.1\r\nHost: a\r\n{}\r\n", lines);
}

TEST(HeadReader, ReadsWhatWasSent) {
  const Head head = ReadWhole(kPush);
  EXPECT_EQ(head.bytes, kPush.size());
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.path, "/api/v1/push");
  EXPECT_EQ(head.query, "job=a%20b");
  EXPECT_EQ(head.framing, Framing::kLength);
  EXPECT_EQ(head.content_length, 12U);
  EXPECT_EQ(head.headers.at("authorization"), "Bearer ab%63");
  EXPECT_EQ(head.headers.at("x-empty"), "");
  EXPECT_EQ(head.headers.at("accept"), "a, b");
}

TEST(HeadReader, LeavesWhatFollowsToTheCaller) {
  HeadReader reader;
  std::size_t consumed = 0;
  EXPECT_EQ(reader.Feed(std::string(kPush) + "GET /next", consumed), Progress::kDone);
  EXPECT_EQ(consumed, kPush.size());
  EXPECT_EQ(reader.Feed("GET /next", consumed), Progress::kDone);
  EXPECT_EQ(consumed, 0U);
}

TEST(HeadReader, EveryCutGivesTheSame) {
  for (const std::string_view bytes : kHeads) {
    const std::string whole = HeadOutcome({bytes});
    EXPECT_EQ(HeadOutcome(CutEverywhere(bytes)), whole);
    for (std::size_t at = 0; at <= bytes.size(); ++at) {
      EXPECT_EQ(HeadOutcome(CutAt(bytes, at)), whole) << at;
    }
  }
}

struct RefusedHead {
  std::string bytes;
  std::string_view code, detail;
};

void ExpectRefused(const RefusedHead& refused) {
  const std::string outcome = HeadOutcome({refused.bytes});
  EXPECT_TRUE(outcome.starts_with(Format("refused {}: {}", refused.code, refused.detail)))
      << Printable(refused.bytes, 400) << "\n"
      << outcome;
  EXPECT_EQ(HeadOutcome(CutEverywhere(refused.bytes)), outcome);
}

TEST(HeadReader, RefusesBrokenRequestLines) {
  const std::string nul(1, '\0');
  const RefusedHead all[] = {
      {"\r\n\r\n", "bad-request", "the byte 0x0d in the method"},
      {"\n", "bad-request", "a line ends with LF alone"},
      {" GET / HTTP/1.1\r\n", "bad-request", "the request line begins with a blank"},
      {"G@T / HTTP/1.1\r\n", "bad-request", "the byte 0x40 in the method"},
      {std::string(33, 'G'), "bad-request", "the method is too long"},
      {"GET\r\n", "bad-request", "the byte 0x0d in the method"},
      {"GET /\r\n", "bad-request", "the byte 0x0d in the request target"},
      {"GET  / HTTP/1.1\r\n", "bad-request", "the request target does not begin with /"},
      {"GET http://a/ HTTP/1.1\r\n", "bad-request", "the request target does not begin with /"},
      {"CONNECT a:80 HTTP/1.1\r\n", "bad-request", "the request target does not begin with /"},
      {"GET * HTTP/1.1\r\n", "bad-request", "the request target does not begin with /"},
      {"GET /a#b HTTP/1.1\r\n", "bad-request", "the byte 0x23 in the request target"},
      {"GET /\xc3\xa4 HTTP/1.1\r\n", "bad-request", "the byte 0xc3 in the request target"},
      {"GET /a\tb HTTP/1.1\r\n", "bad-request", "the byte 0x09 in the request target"},
      {"GET /" + nul + " HTTP/1.1\r\n", "bad-request", "the byte 0x00 in the request target"},
      {"GET /a%00b HTTP/1.1\r\n", "bad-request", "the request target is not valid"},
      {"GET /a%4 HTTP/1.1\r\n", "bad-request", "the request target is not valid"},
      {"GET /?q=%zz HTTP/1.1\r\n", "bad-request", "the request target is not valid"},
      {"GET /?q=% HTTP/1.1\r\n", "bad-request", "the request target is not valid"},
      {"GET / HTTP/1.1 \r\n", "bad-request", "the byte 0x20 in the HTTP version"},
      {"GET /a b HTTP/1.1\r\n", "bad-request", "the byte 0x20 in the HTTP version"},
      {"GET / http/1.1\r\n", "bad-request", "this is not an HTTP request line"},
      {"GET / HTTP/1.\r\n", "bad-request", "this is not an HTTP request line"},
      {"GET / HTTP/1.11\r\n", "bad-request", "the HTTP version is too long"},
      {"GET / HTTP/1.1\n", "bad-request", "a line ends with LF alone"},
      {"GET / HTTP/1.1\rX", "bad-request", "a CR stands without its LF"},
      {"GET / HTTP/1.2\r\n", "version-not-supported", "this service speaks HTTP/1.1"},
      {"GET / HTTP/0.9\r\n", "version-not-supported", "this service speaks HTTP/1.1"},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "version-not-supported",
       "HTTP/2 on a port that speaks HTTP/1.1"},
      {"\x16\x03\x01\x02", "bad-request", "TLS on a port that speaks HTTP without it"},
      {"OP\x16h", "bad-request", "the byte 0x16 in the method"},
  };
  for (const RefusedHead& refused : all) ExpectRefused(refused);
}

TEST(HeadReader, RefusesBrokenHeaderLines) {
  const std::string nul(1, '\0');
  const RefusedHead all[] = {
      {With("a : b\r\n"), "bad-request", "a blank stands before the colon"},
      {With("a\t: b\r\n"), "bad-request", "a blank stands before the colon"},
      {With("a: b\r\n c\r\n"), "bad-request", "a header is folded"},
      {With("a: b\r\n\tc\r\n"), "bad-request", "a header is folded"},
      {With(": b\r\n"), "bad-request", "a header has no name"},
      {With("a\r\n"), "bad-request", "the byte 0x0d in a header name"},
      {With("a\nb: c\r\n"), "bad-request", "a line ends with LF alone"},
      {With("a(b): c\r\n"), "bad-request", "the byte 0x28 in a header name"},
      {With("a\x80: c\r\n"), "bad-request", "the byte 0x80 in a header name"},
      {With("a" + nul + ": c\r\n"), "bad-request", "the byte 0x00 in a header name"},
      {With("a: b\nc: d\r\n"), "bad-request", "a line ends with LF alone"},
      {With("a: b\rc: d\r\n"), "bad-request", "a CR stands without its LF"},
      {With("a: b" + nul + "\r\n"), "bad-request", "the byte 0x00 in a header value"},
      {With("a: b\x7f\r\n"), "bad-request", "the byte 0x7f in a header value"},
      {With("a: \x1b[2J\r\n"), "bad-request", "the byte 0x1b in a header value"},
      {"GET / HTTP/1.1\r\nHost: a\r\n\rx", "bad-request", "a CR stands without its LF"},
      {"GET / HTTP/1.1\r\n Host: a\r\n\r\n", "bad-request", "a header is folded"},
  };
  for (const RefusedHead& refused : all) ExpectRefused(refused);
}

// T7: a line of 500 MB, a header of 300 MB, two million headers. None is read any further.
TEST(HeadReader, RefusesAtTheByteBeyondALimit) {
  const std::string target = "GET /" + std::string(2047, 'a');
  EXPECT_EQ(HeadOutcome({target}), "more after 2052");
  EXPECT_EQ(HeadOutcome({target + "a"}),
            "refused target-too-long: the request target has more than 2048 bytes after 2053");
  const std::string head = With("a: ").substr(0, With("a: ").size() - 2);
  const std::string full = head + std::string(16384 - head.size(), 'b');
  EXPECT_EQ(HeadOutcome({full}), "more after 16384");
  EXPECT_EQ(HeadOutcome({full + std::string(3'000'000, 'b')}),
            "refused head-too-large: the head has more than 16384 bytes after 16384");
  std::string lines;
  for (int line = 0; line < 63; ++line) lines += "a: b\r\n";
  ReadWhole(With(lines));
  ExpectRefused({With(lines + "a: b\r\n"), "head-too-large", "the head has more than 64 headers"});
}

// Nothing that was accepted may hold what a checked head never holds.
void ExpectChecked(const Head& head) {
  EXPECT_TRUE(head.path.starts_with('/') || head.path == "*");
  EXPECT_EQ((head.path + head.query).find_first_of("# \r\n\t"), std::string::npos);
  EXPECT_FALSE(head.headers.at("host").empty());
  for (const auto& [name, value] : head.headers) {
    EXPECT_EQ(value.find_first_of(std::string_view("\r\n\0", 3)), std::string::npos);
    EXPECT_EQ(value, Trim(value));
    EXPECT_EQ(name.find_first_of("_: \t"), std::string::npos);
  }
  for (const char* gone : {"transfer-encoding", "connection", "range", "te", "expect"}) {
    EXPECT_FALSE(head.headers.contains(gone)) << gone;
  }
}

TEST(HeadReader, TenThousandMutantsGiveTheSameHoweverCut) {
  std::mt19937 dice(20270101);
  int accepted = 0;
  for (int mutant = 0; mutant < 10'000; ++mutant) {
    const std::string bytes = Mutate(kHeads[mutant % std::size(kHeads)], dice);
    const std::string whole = HeadOutcome({bytes});
    ASSERT_EQ(HeadOutcome(CutEverywhere(bytes)), whole) << ToHex(bytes);
    ASSERT_EQ(HeadOutcome(CutAnyhow(bytes, dice, 9)), whole) << ToHex(bytes);
    HeadReader reader;
    std::size_t consumed = 0;
    if (reader.Feed(bytes, consumed) != Progress::kDone) continue;
    ExpectChecked(reader.head());
    ++accepted;
  }
  EXPECT_GT(accepted, 500);
  EXPECT_LT(accepted, 9'000);
}

}  // namespace
}  // namespace stepscope

#include "server/edge/http/normalize_head.h"

#include <gtest/gtest.h>

#include "tests/support/edge_bytes.h"

namespace stepscope {
namespace {

// The outcome of a POST with these lines behind the Host.
std::string NormalizeOutcome(std::string_view lines, std::string_view version = "1.1") {
  return HeadOutcome({Format("POST / HTTP/{}\r\nHost: a\r\n{}\r\n", version, lines)});
}

Head NormalizedHead(std::string_view lines, std::string_view version = "1.1") {
  HeadReader reader;
  std::size_t consumed = 0;
  const std::string bytes = Format("POST / HTTP/{}\r\nHost: a\r\n{}\r\n", version, lines);
  EXPECT_EQ(reader.Feed(bytes, consumed), Progress::kDone) << reader.refusal().detail;
  return reader.head();
}

struct RefusedLines {
  std::string_view lines, code;
};

// T16: each of these was accepted by the stock server, or hung it.
TEST(NormalizeHead, RefusesEveryLengthThatIsNotClear) {
  constexpr RefusedLines kAll[] = {
      {"Content-Length: 3\r\nContent-Length: 3\r\n", "bad-request"},
      {"Content-Length: 3\r\ncontent-length: 4\r\n", "bad-request"},
      {"Content-Length: 3, 3\r\n", "bad-request"},
      {"Content-Length: +5\r\n", "bad-request"},
      {"Content-Length: -5\r\n", "bad-request"},
      {"Content-Length: 0x5\r\n", "bad-request"},
      {"Content-Length: 5 \t5\r\n", "bad-request"},
      {"Content-Length: abc\r\n", "bad-request"},
      {"Content-Length:\r\n", "bad-request"},
      {"Content-Length: 1000000000000000\r\n", "bad-request"},
      {"Content-Length: 18446744073709551621\r\n", "bad-request"},
      {"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "bad-request"},
      {"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", "bad-request"},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "bad-request"},
      {"Transfer-Encoding: gzip, chunked\r\n", "not-implemented"},
      {"Transfer-Encoding: chunked, identity\r\n", "not-implemented"},
      {"Transfer-Encoding: xchunked\r\n", "not-implemented"},
      {"Transfer-Encoding: \"chunked\"\r\n", "not-implemented"},
      {"Transfer-Encoding:\r\n", "not-implemented"},
  };
  for (const auto& [lines, code] : kAll) {
    EXPECT_TRUE(NormalizeOutcome(lines).starts_with(Format("refused {}: ", code))) << lines;
  }
  EXPECT_TRUE(
      NormalizeOutcome("Transfer-Encoding: chunked\r\n", "1.0").starts_with("refused bad-request"));
}

TEST(NormalizeHead, DecidesTheFraming) {
  EXPECT_EQ(NormalizedHead("").framing, Framing::kNone);
  EXPECT_EQ(NormalizedHead("Content-Length: 999999999999999\r\n").content_length,
            999'999'999'999'999U);
  EXPECT_EQ(NormalizedHead("Content-Length: 0\r\n").framing, Framing::kLength);
  const Head chunked = NormalizedHead("Transfer-Encoding: CHUNKED\r\nContent-Encoding: GZip\r\n");
  EXPECT_EQ(chunked.framing, Framing::kChunked);
  EXPECT_EQ(chunked.coding, Coding::kGzip);
  EXPECT_EQ(chunked.headers.size(), 1U);  // the host
}

TEST(NormalizeHead, TakesNoCodingButGzip) {
  EXPECT_EQ(NormalizedHead("Content-Encoding: identity\r\n").coding, Coding::kIdentity);
  for (const char* coding : {"zstd", "br", "deflate", "gzip, gzip", "x-gzip"}) {
    EXPECT_TRUE(NormalizeOutcome(Format("Content-Encoding: {}\r\n", coding))
                    .starts_with("refused unsupported-media-type"))
        << coding;
  }
}

TEST(NormalizeHead, WantsExactlyOneHostThatIsOne) {
  const auto outcome = [](std::string_view lines, std::string_view version) {
    return HeadOutcome({Format("GET / HTTP/{}\r\n{}\r\n", version, lines)});
  };
  EXPECT_TRUE(outcome("", "1.1").starts_with("refused bad-request: the Host header is missing"));
  EXPECT_TRUE(outcome("", "1.0").starts_with("refused bad-request: the Host header is missing"));
  EXPECT_TRUE(outcome("Host: a\r\nHost: a\r\n", "1.1").starts_with("refused bad-request"));
  for (const char* host : {"", "a b", "a/b", "u@a", "a,b", "<a>", "a\\b", "a\"", "\xc3\xa4"}) {
    EXPECT_TRUE(outcome(Format("Host: {}\r\n", host), "1.1")
                    .starts_with("refused bad-request: the Host header is no host"))
        << host;
  }
  for (const char* host : {"a", "A-b.c_d:80", "[fe80::1%25eth0]:8080", "127.0.0.1"}) {
    EXPECT_FALSE(outcome(Format("Host: {}\r\n", host), "1.1").starts_with("refused")) << host;
  }
}

TEST(NormalizeHead, RefusesTwoOfWhatMustBeOne) {
  for (const char* name :
       {"Authorization", "Content-Type", "Content-Encoding", "Cookie", "Origin", "Expect"}) {
    EXPECT_TRUE(NormalizeOutcome(Format("{0}: a\r\nX: y\r\n{0}: a\r\n", name))
                    .starts_with("refused bad-request"))
        << name;
  }
}

TEST(NormalizeHead, DecidesWhetherTheConnectionStays) {
  EXPECT_TRUE(NormalizedHead("").keep_alive);
  EXPECT_FALSE(NormalizedHead("", "1.0").keep_alive);
  EXPECT_TRUE(NormalizedHead("Connection: Keep-Alive\r\n", "1.0").keep_alive);
  EXPECT_FALSE(NormalizedHead("Connection: x, Close\r\n").keep_alive);
  EXPECT_FALSE(NormalizedHead("Connection: close\r\nConnection: keep-alive\r\n").keep_alive);
}

TEST(NormalizeHead, MeetsOneExpectation) {
  EXPECT_TRUE(NormalizedHead("Content-Length: 3\r\nExpect: 100-Continue\r\n").expects_continue);
  EXPECT_FALSE(NormalizedHead("Expect: 100-continue\r\n").expects_continue);
  EXPECT_FALSE(
      NormalizedHead("Content-Length: 3\r\nExpect: 100-continue\r\n", "1.0").expects_continue);
  EXPECT_TRUE(NormalizeOutcome("Expect: a-miracle\r\n").starts_with("refused expectation-failed"));
}

// T8, T17: ranges, and names that the library or CGI would take for its own.
TEST(NormalizeHead, TakesOutWhatNobodyBehindMayActOn) {
  for (const char* name :
       {"Range", "If-Range", "REMOTE_ADDR", "REMOTE_PORT", "LOCAL_ADDR", "Remote-Addr", "X_Real_IP",
        "Upgrade", "TE", "Trailer", "Proxy-Connection", "Proxy-Authorization", "Proxy",
        "Keep-Alive", "HTTP2-Settings"}) {
    EXPECT_EQ(NormalizedHead(Format("{}: 1\r\n", name)).headers.size(), 1U) << name;
  }
}

TEST(NormalizeHead, ValuesAreNeverDecoded) {
  const Head head = NormalizedHead("Authorization: Bearer ab%63\r\nX: a%0d%0aSet-Cookie: b\r\n");
  EXPECT_EQ(head.headers.at("authorization"), "Bearer ab%63");
  EXPECT_EQ(head.headers.at("x"), "a%0d%0aSet-Cookie: b");
}

TEST(NormalizeHead, NobodyMakesAHeaderOfAProxyVanish) {
  EXPECT_TRUE(
      NormalizeOutcome("X-Forwarded-For: 10.0.0.1\r\nConnection: close, X-Forwarded-For\r\n")
          .starts_with("refused bad-request: Connection names"));
  EXPECT_TRUE(NormalizedHead("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n").keep_alive);
}

}  // namespace
}  // namespace stepscope

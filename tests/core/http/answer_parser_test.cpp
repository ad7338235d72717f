#include "core/http/answer_parser.h"

#include <gtest/gtest.h>

#include "core/base/text.h"

namespace stepscope {
namespace {

using State = AnswerParser::State;

// The outcome of parsing: "200 hello keep", or the state without an answer. The test compares
// parsing as a whole and byte by byte.
std::string Outcome(std::string_view bytes, AnswerLimit most, bool whole, bool closes) {
  AnswerParser parser(most);
  State state = State::kMore;
  if (whole) state = parser.Feed(bytes);
  for (std::size_t i = 0; i < bytes.size() && !whole; ++i) state = parser.Feed(bytes.substr(i, 1));
  if (closes) state = parser.End();
  constexpr std::string_view kWords[] = {"more", "done", "cut", "too large", "wrong"};
  if (state != State::kDone && state != State::kCut) {
    return std::string(kWords[static_cast<int>(state)]);
  }
  return Format("{} {} {}", parser.answer().status, parser.answer().body,
                parser.reusable() ? "keep" : "close");
}

std::string Read(std::string_view bytes, AnswerLimit most = {1000, false}, bool closes = false) {
  const std::string whole = Outcome(bytes, most, true, closes);
  EXPECT_EQ(Outcome(bytes, most, false, closes), whole);
  return whole;
}

std::string WithHead(std::string_view head, std::string_view body) {
  return Format("HTTP/1.1 200 OK\r\n{}\r\n\r\n{}", head, body);
}

TEST(AnswerParser, TakesABodyOfItsLength) {
  EXPECT_EQ(Read(WithHead("Content-Length: 5", "hello")), "200 hello keep");
  EXPECT_EQ(Read(WithHead("content-length:5\r\nContent-Length:  5 ", "hello")), "200 hello keep");
  EXPECT_EQ(Read(WithHead("Content-Length: 0", "")), "200  keep");
  EXPECT_EQ(Read(WithHead("Content-Length: 5", "hell")), "more");
  EXPECT_EQ(Read(WithHead("Content-Length: 5", "hell"), {1000, false}, true), "more");
  EXPECT_EQ(Read("HTTP/1.1 200\nContent-Length: 2\n\nok"), "200 ok keep");
}

TEST(AnswerParser, TakesChunks) {
  const auto chunked = [](std::string_view chunks) {
    return Read(WithHead("Transfer-Encoding: Chunked", chunks));
  };
  EXPECT_EQ(chunked("5\r\nhello\r\n0\r\n\r\n"), "200 hello keep");
  EXPECT_EQ(chunked("003;x=\"y\"\r\nhel\r\n2 \r\nlo\r\n0\r\nX: y\r\n\r\n"), "200 hello keep");
  EXPECT_EQ(chunked("5\r\nhello!\r\n0\r\n\r\n"), "wrong");
  EXPECT_EQ(chunked("-5\r\nhello\r\n"), "wrong");
  EXPECT_EQ(chunked("0x5\r\nhello\r\n"), "wrong");
  EXPECT_EQ(chunked("\r\n"), "wrong");
  EXPECT_EQ(chunked("ffffffffffffffffffff\r\n"), "wrong");
  EXPECT_EQ(chunked("5\r\nhello\r\n0\r\n"), "more");
}

TEST(AnswerParser, TakesABodyThatEndsWithTheConnection) {
  EXPECT_EQ(Read(WithHead("X: y", "hello")), "more");
  EXPECT_EQ(Read(WithHead("X: y", "hello"), {1000, false}, true), "200 hello close");
  EXPECT_EQ(Read("HTTP/1.1 200 OK\r\n", {1000, false}, true), "more");
}

TEST(AnswerParser, KnowsAnswersWithoutABody) {
  EXPECT_EQ(Read("HTTP/1.1 204 No Content\r\n\r\n"), "204  keep");
  EXPECT_EQ(Read("HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n"), "304  keep");
}

TEST(AnswerParser, PassesOverWhatIsNotYetTheAnswer) {
  EXPECT_EQ(
      Read("HTTP/1.1 100 Continue\r\nContent-Length: 9\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n" +
           WithHead("Content-Length: 2", "ok")),
      "200 ok keep");
  EXPECT_EQ(Read("HTTP/1.1 101 Switching\r\n\r\n"), "wrong");
}

TEST(AnswerParser, SeesThatTheConnectionIsNotKept) {
  EXPECT_EQ(Read(WithHead("Connection: TE, Close\r\nContent-Length: 2", "ok")), "200 ok close");
  EXPECT_EQ(Read("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"), "200 ok close");
  EXPECT_EQ(Read(WithHead("Content-Length: 2", "okHTTP/1.1 500 X")), "200 ok close");
}

TEST(AnswerParser, RefusesWhatTwoReadersCouldEndDifferently) {
  for (const char* head :
       {"Content-Length: 2\r\nContent-Length: 3", "Content-Length: +2", "Content-Length: 2, 2",
        "Content-Length: 2\r\nTransfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Content-Length : 2", ": 2",
        "X: a\r\n folded", "X: a\rContent-Length: 2", "Content-Length: 18446744073709551615",
        "nothing"}) {
    EXPECT_EQ(Read(WithHead(head, "ok")), "wrong") << head;
  }
}

TEST(AnswerParser, RefusesWhatIsNotHttp) {
  for (const char* text : {"\r\n", "HTTP/2.0 200 OK\r\n", "HTTP/1.2 200 OK\r\n",
                           "HTTP/1.1 20 OK\r\n", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 099 OK\r\n",
                           "HTTP/1.1  200\r\n", "SSH-2.0-OpenSSH\r\n"}) {
    EXPECT_EQ(Read(text), "wrong") << text;
  }
}

TEST(AnswerParser, BoundsTheBody) {
  for (const char* rest :
       {"Content-Length: 8\r\n\r\n12345678", "X: y\r\n\r\n12345678",
        "Transfer-Encoding: chunked\r\n\r\n3\r\n123\r\n5\r\n45678\r\n0\r\n\r\n"}) {
    const auto text = Format("HTTP/1.1 200 OK\r\n{}", rest);
    EXPECT_EQ(Read(text, {7, false}), "too large") << rest;
    EXPECT_EQ(Read(text, {7, true}), "200 1234567 close") << rest;
  }
}

TEST(AnswerParser, BoundsAllThatIsNotBody) {
  const std::string long_value(20'000, 'x');
  EXPECT_EQ(Read(WithHead("X: " + long_value, "")), "too large");
  EXPECT_EQ(Read(long_value), "too large");
  std::string many, chunks;
  for (int i = 0; i < 5000; ++i) many += "HTTP/1.1 100 C\r\n\r\n", chunks += "1\r\nx\r\n";
  EXPECT_EQ(Read(many), "too large");
  EXPECT_EQ(Read(WithHead("Transfer-Encoding: chunked", chunks), {100'000, true}), "too large");
}

}  // namespace
}  // namespace stepscope

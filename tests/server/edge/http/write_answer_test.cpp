#include "server/edge/http/write_answer.h"

#include <gtest/gtest.h>

#include "tests/support/raw_client.h"

namespace stepscope {
namespace {

class WriteAnswerTest : public testing::Test {
 protected:
  static Reply ReplyWith(int status, std::string body) {
    return {.status = status, .content_type = "text/plain", .body = std::move(body), .headers = {}};
  }
  static std::string Write(Reply reply, AnswerForm form = {}) {
    return WriteAnswer(std::move(reply), form);
  }
};

TEST_F(WriteAnswerTest, WritesExactlyStatusHeadersAndBody) {
  Reply reply = ReplyWith(201, "a body");
  reply.headers.emplace_back("Location", "/there");
  const std::string answer = Write(std::move(reply));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 201 ")) << answer;
  EXPECT_EQ(HeaderOf(answer, "location"), "/there");
  EXPECT_EQ(HeaderOf(answer, "content-type"), "text/plain");
  EXPECT_EQ(HeaderOf(answer, "content-length"), "6");
  EXPECT_EQ(BodyOf(answer), "a body");
}

TEST_F(WriteAnswerTest, IsMadeOfTheseBytes) {
  Reply reply = ReplyWith(409, "no");
  reply.headers.emplace_back("X-One", "1");
  reply.lines = "X-Two: 2\r\n";
  EXPECT_EQ(Write(std::move(reply), {.close = true}),
            "HTTP/1.1 409 Conflict\r\nConnection: close\r\nContent-Length: 2\r\n"
            "Content-Type: text/plain\r\nX-One: 1\r\nX-Two: 2\r\n\r\nno");
  EXPECT_EQ(Write(ReplyWith(599, "")), "HTTP/1.1 599 \r\nContent-Length: 0\r\n\r\n");
}

TEST_F(WriteAnswerTest, PromisesNothingThatIsNotKept) {
  const std::string answer = Write(ReplyWith(200, "x"));
  for (const char* name : {"keep-alive", "server", "accept-ranges", "date", "connection"}) {
    EXPECT_EQ(HeaderOf(answer, name), "") << name;
  }
  EXPECT_EQ(HeaderOf(Write(ReplyWith(200, "x"), {.head_only = true}), "accept-ranges"), "");
  EXPECT_EQ(HeaderOf(Write(ReplyWith(200, "x"), {.close = true}), "connection"), "close");
  EXPECT_EQ(HeaderOf(Write(ReplyWith(200, "x"), {.say_keep = true}), "connection"), "keep-alive");
}

TEST_F(WriteAnswerTest, ABodyThatLooksLikeAHeadStaysAsItIs) {
  const std::string body = "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\n\r\n";
  EXPECT_EQ(BodyOf(Write(ReplyWith(200, body))), body);
  EXPECT_EQ(BodyOf(Write(ReplyWith(200, body), {.close = true})), body);
}

TEST_F(WriteAnswerTest, HeadHasTheLengthAndNoBody) {
  const std::string answer = Write(ReplyWith(200, "a body"), {.head_only = true});
  EXPECT_EQ(HeaderOf(answer, "content-length"), "6");
  EXPECT_EQ(BodyOf(answer), "");
}

TEST_F(WriteAnswerTest, NoContentHasNoBody) {
  for (const int status : {204, 304}) {
    const std::string answer = Write(ReplyWith(status, ""));
    EXPECT_EQ(StatusOf(answer), status);
    EXPECT_EQ(BodyOf(answer), "");
  }
}

TEST_F(WriteAnswerTest, ABodyOfAnyBytesIsWrittenAsItIs) {
  std::string body;
  for (int byte = 0; byte < 256; ++byte) body += static_cast<char>(byte);
  EXPECT_EQ(BodyOf(Write(ReplyWith(200, body))), body);
  EXPECT_EQ(BodyOf(Write(ReplyWith(200, std::string(5'000'000, 'x')))).size(), 5'000'000U);
}

TEST_F(WriteAnswerTest, ALineBreakInAHeaderMakesNoSecondOne) {
  Reply reply = ReplyWith(200, "x");
  reply.headers.emplace_back("X-One", "1\r\nX-Two: 2");
  EXPECT_EQ(HeaderOf(Write(std::move(reply)), "x-two"), "");
}

TEST_F(WriteAnswerTest, ConstantLinesStandAtTheEndOfTheHead) {
  for (const bool head_only : {false, true}) {
    Reply reply = ReplyWith(200, "a body\r\n\r\n");
    reply.lines = "X-One: 1\r\nX-Two: 2\r\n";
    const std::string answer = Write(std::move(reply), {.head_only = head_only});
    EXPECT_EQ(HeaderOf(answer, "x-one"), "1");
    EXPECT_EQ(HeaderOf(answer, "x-two"), "2");
    EXPECT_EQ(HeaderOf(answer, "content-length"), "10");
    EXPECT_EQ(BodyOf(answer), head_only ? "" : "a body\r\n\r\n");
  }
}

}  // namespace
}  // namespace stepscope

// Answers on the wire: framing, order, and when the connection ends.

#include "tests/server/edge/edge_test.h"

namespace stepscope {
namespace {

class EdgeConnectionTest : public EdgeTest {};

TEST_F(EdgeConnectionTest, PipelinedRequestsAreAnsweredInOrder) {
  RawClient client(edge_.port());
  std::string all;
  for (int at = 0; at < 50; ++at) all += Post("Content-Length: 3\r\n", Format("b{:02}", at));
  client.Send(all);
  for (int at = 0; at < 50; ++at) EXPECT_EQ(BodyOf(client.ReadAnswer()), Format("b{:02}", at));
}

TEST_F(EdgeConnectionTest, TheBodyOfARefusedRequestIsNeverReadAsTheNext) {
  RawClient client(edge_.port());
  const std::string inner = Get("/echo");
  client.Send(Format("POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}",
                     inner.size(), inner));
  const std::string answer = client.ReadAnswer();
  EXPECT_EQ(StatusOf(answer), 403);
  EXPECT_EQ(HeaderOf(answer, "connection"), "close");
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(EdgeConnectionTest, ARefusedRequestWithoutABodyKeepsTheConnection) {
  RawClient client(edge_.port());
  client.Send(Get("/refuse") + Get("/echo"));
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 403);
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
}

TEST_F(EdgeConnectionTest, HeadIsAnsweredWithoutABody) {
  RawClient client(edge_.port());
  client.Send("HEAD /large?500 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string answer = client.ReadToEnd();
  EXPECT_EQ(StatusOf(answer), 200);
  EXPECT_EQ(HeaderOf(answer, "content-length"), "500");
  EXPECT_EQ(BodyOf(answer), "");
}

TEST_F(EdgeConnectionTest, Http10EndsTheConnectionUnlessAskedNotTo) {
  RawClient old(edge_.port()), keeping(edge_.port());
  old.Send("GET /echo HTTP/1.0\r\nHost: a\r\n\r\n");
  EXPECT_EQ(StatusOf(old.ReadAnswer()), 200);
  EXPECT_TRUE(old.IsClosed());
  keeping.Send("GET /echo HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(HeaderOf(keeping.ReadAnswer(), "connection"), "keep-alive");
  keeping.Send(Get("/echo"));
  EXPECT_EQ(StatusOf(keeping.ReadAnswer()), 200);
}

TEST_F(EdgeConnectionTest, CloseIsSaidAndKept) {
  RawClient client(edge_.port());
  client.Send(Get("/echo", "Connection: close\r\n") + Get("/echo"));
  EXPECT_EQ(HeaderOf(client.ReadAnswer(), "connection"), "close");
  EXPECT_TRUE(client.IsClosed()) << "the second request came after the end";
}

TEST_F(EdgeConnectionTest, ContinueIsSaidOnceTheHeadPassed) {
  RawClient client(edge_.port());
  client.Send(Post("Content-Length: 4\r\nExpect: 100-continue\r\n", ""));
  EXPECT_TRUE(client.ReadAnswer().starts_with("HTTP/1.1 100 "));
  client.Send("body");
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "body");
}

TEST_F(EdgeConnectionTest, ContinueIsNotSaidToARefusedHead) {
  EXPECT_EQ(StatusOf(Ask("POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n"
                         "Expect: 100-continue\r\n\r\n")),
            403);
}

TEST_F(EdgeConnectionTest, ContinueIsNotSaidToHttp10OrWithoutABody) {
  EXPECT_EQ(StatusOf(Ask("GET /echo HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\n\r\n")), 200);
  EXPECT_EQ(StatusOf(Ask(Get("/echo", "Expect: 100-continue\r\n"))), 200);
}

TEST_F(EdgeConnectionTest, AnAbsoluteTargetIsRefused) {
  const std::string answer = Ask("GET http://a/echo HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(StatusOf(answer), 400);
  EXPECT_EQ(HeaderOf(answer, "connection"), "close");
}

TEST_F(EdgeConnectionTest, PathAndQueryArriveAsTheyWereSent) {
  EXPECT_EQ(BodyOf(Ask(Get("/a%2Fb//c?x=%20&y"))), "GET /a%2Fb//c?x=%20&y");
}

TEST_F(EdgeConnectionTest, AQuestionAboutAHeadIsPutToAWorker) {
  RawClient client(edge_.port());
  client.Send("POST /ask HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody" + Get("/echo"));
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /ask?");
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
}

TEST_F(EdgeConnectionTest, AClientThatEndsItsSideIsAnswered) {
  RawClient client(edge_.port()), cut(edge_.port());
  client.Send(Get("/echo"));
  client.EndSending();
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
  EXPECT_TRUE(client.IsClosed());
  cut.Send("GET /echo HT");
  cut.EndSending();
  EXPECT_EQ(StatusOf(cut.ReadAnswer()), 400);
}

TEST_F(EdgeConnectionTest, AHandlerThatThrowsIsA500AndTheServiceGoesOn) {
  RawClient client(edge_.port());
  client.Send(Get("/throws"));
  const std::string answer = client.ReadAnswer();
  EXPECT_EQ(StatusOf(answer), 500);
  EXPECT_EQ(answer.find("secret"), std::string::npos);
  client.Send(Get("/echo"));
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
}

// A broken pipe is an error of one connection.
TEST_F(EdgeConnectionTest, ClientsThatBreakAwayHarmNobody) {
  for (int count = 0; count < 20; ++count) {
    RawClient client(edge_.port());
    client.Send(Get("/large?3000000") + Get("/echo"));
    if (count % 2 == 0) client.HasNews(1'000);
    client.Break();
  }
  EXPECT_EQ(StatusOf(Ask(Get("/echo"))), 200);
  EXPECT_TRUE(Eventually([&] { return edge_.figures().open() == 0; }));
  EXPECT_EQ(edge_.figures().answer_bytes, 0U);
}

}  // namespace
}  // namespace stepscope

// Claims about the server as a client on the wire sees it.

#include "tests/server/front/http_server_test.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST_F(HttpServerTest, AnswersByRouteWithDecodedSegmentAndRawQuery) {
  EXPECT_EQ(BodyOf(Get("/echo/a%2Fb?x=1%3Fy", "X-Mark: m\r\n")), "a/b|x=1%3Fy|m");
}

TEST_F(HttpServerTest, EveryAnswerCarriesTheSecurityHeadersAndNoServerName) {
  for (const std::string& answer : {Get("/echo/a"), Get("/nowhere"), Ask("nonsense\r\n\r\n")}) {
    EXPECT_NE(HeaderOf(answer, "content-security-policy").find("trusted-types stepscope"),
              std::string::npos)
        << answer;
    EXPECT_EQ(HeaderOf(answer, "x-content-type-options"), "nosniff");
    EXPECT_EQ(HeaderOf(answer, "referrer-policy"), "no-referrer");
    EXPECT_EQ(HeaderOf(answer, "cache-control"), "no-store");
    EXPECT_EQ(HeaderOf(answer, "x-request-id").size(), 16U);
    EXPECT_EQ(HeaderOf(answer, "server"), "");
  }
}

TEST_F(HttpServerTest, HeadIsGetWithoutTheBody) {
  RawClient client(server_.port());
  client.Send("HEAD /echo/abc HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string answer = client.ReadToEnd();
  EXPECT_EQ(StatusOf(answer), 200);
  EXPECT_EQ(HeaderOf(answer, "content-length"), "5");
  EXPECT_EQ(BodyOf(answer), "");
}

TEST_F(HttpServerTest, UnknownPathsAndMethodsGetProblems) {
  ExpectProblem(Get("/nowhere"), 404, "not-found");
  const std::string answer = Ask("DELETE /size HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ExpectProblem(answer, 405, "method-not-allowed");
  EXPECT_EQ(HeaderOf(answer, "allow"), "POST");
}

TEST_F(HttpServerTest, AnExceptionBecomesAProblemWithoutItsText) {
  const std::string answer = Get("/throws");
  ExpectProblem(answer, 500, "internal");
  EXPECT_EQ(answer.find("secret"), std::string::npos);
  EXPECT_EQ(StatusOf(Get("/echo/still")), 200);
}

TEST_F(HttpServerTest, AnswersThatComeLaterAreWholeAndCounted) {
  const HttpFigures before = front_.figures();
  const std::string answer =
      Post("Content-Type: application/json\r\nContent-Length: 7\r\n", "[1,2,3]", "/later");
  EXPECT_EQ(BodyOf(answer), "0 of 7") << "the body is the handler's";
  EXPECT_EQ(HeaderOf(answer, "x-request-id").size(), 16U);
  EXPECT_EQ(HeaderOf(answer, "x-content-type-options"), "nosniff");
  EXPECT_EQ(HeaderOf(answer, "cache-control"), "no-store");
  EXPECT_EQ(front_.figures().answers[2], before.answers[2] + 1);
  EXPECT_EQ(front_.figures().body_bytes, before.body_bytes + 7);
  EXPECT_EQ(StatusOf(Post("Content-Length: 0\r\n", "", "/later?throws")), 200);
  EXPECT_EQ(front_.figures().answers[2], before.answers[2] + 2);
  EXPECT_EQ(front_.figures().answers[5], before.answers[5]) << "it has answered already";
  const std::string failed = Get("/later/throws");
  ExpectProblem(failed, 500, "internal");
  EXPECT_EQ(failed.find("secret"), std::string::npos);
}

TEST_F(HttpServerTest, AnswersThatComeAtOnceAreWholeAndCounted) {
  const HttpFigures before = front_.figures();
  const std::string body = "Content-Type: application/json\r\nContent-Length: 7\r\n";
  const std::string answer = Post(body, "[1,2,3]", "/now");
  EXPECT_EQ(BodyOf(answer), "now: 0 of 7");
  EXPECT_EQ(HeaderOf(answer, "x-request-id").size(), 16U);
  EXPECT_EQ(HeaderOf(answer, "cache-control"), "no-store");
  EXPECT_EQ(BodyOf(Post(body, "[1,2,3]", "/now?waits")), "later: waits [1,2,3]");
  EXPECT_EQ(front_.figures().answers[2], before.answers[2] + 2);
  EXPECT_EQ(front_.figures().body_bytes, before.body_bytes + 14);
  const std::string failed = Post(body, "[1,2,3]", "/now?throws");
  ExpectProblem(failed, 500, "internal");
  EXPECT_EQ(failed.find("secret"), std::string::npos);
}

TEST_F(HttpServerTest, AnAnswerThatComesTooLateIsCountedOnceAsWhatTheClientGot) {
  const HttpFigures before = front_.figures();
  ExpectProblem(Get("/later/slow"), 503, "unavailable");
  server_.Stop(std::chrono::seconds(10));  // returns when the handler has ended
  EXPECT_EQ(front_.figures().answers[5], before.answers[5] + 1);
  EXPECT_EQ(front_.figures().answers[2], before.answers[2]);
}

TEST_F(HttpServerTest, PipelinedRequestsAreAllAnswered) {
  RawClient client(server_.port());
  const std::string one = "GET /echo/a HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.Send(one + one + one);
  for (int count = 0; count < 3; ++count) EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
}

TEST_F(HttpServerTest, APostWithoutLengthIsAnsweredAtOnce) {
  EXPECT_EQ(BodyOf(Post("", "")), "0");
}

TEST_F(HttpServerTest, AClientThatShutsItsWritingSideIsAnswered) {
  RawClient client(server_.port());
  client.Send("GET /echo/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  client.EndSending();
  EXPECT_EQ(StatusOf(client.ReadToEnd()), 200);
}

TEST_F(HttpServerTest, LargeJsonIsCompressedWhenAsked) {
  const std::string packed = Get("/large", "Accept-Encoding: br, gzip\r\n");
  EXPECT_EQ(HeaderOf(packed, "content-encoding"), "gzip");
  EXPECT_LT(BodyOf(packed).size(), 2'000U);
  EXPECT_EQ(HeaderOf(Get("/large", "Accept-Encoding: gzip;q=0\r\n"), "content-encoding"), "");
}

TEST_F(HttpServerTest, WhatTheClientHasIsNotSentAgain) {
  const std::string answer = Get("/large", "If-None-Match: W/\"one\", \"two\"\r\n");
  EXPECT_EQ(StatusOf(answer), 304);
  EXPECT_EQ(HeaderOf(answer, "etag"), "\"one\"");
  EXPECT_EQ(BodyOf(answer), "");
  EXPECT_EQ(StatusOf(Get("/large", "If-None-Match: \"two\"\r\n")), 200);
}

TEST_F(HttpServerTest, ASecondServerOnTheSamePortIsRefused) {
  Edge second({}, front_.Handlers());
  const Status listening = second.Listen({.host = "127.0.0.1", .port = server_.port()});
  ASSERT_FALSE(listening.ok());
  EXPECT_NE(listening.error().message.find("is in use"), std::string::npos);
}

TEST_F(HttpServerTest, StopEndsSlowAndIdleConnections) {
  RawClient idle(server_.port()), slow(server_.port());
  idle.Send("GET /echo/a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(StatusOf(idle.ReadAnswer()), 200);
  slow.Send("GET /echo/a HTT");
  server_.Stop(std::chrono::milliseconds(50));
  EXPECT_TRUE(idle.IsClosed());
  EXPECT_EQ(server_.figures().open(), 0U);
}

class SmallServerTest : public HttpServerTest {
 protected:
  SmallServerTest()
      : HttpServerTest({.workers = 2,
                        .head_within = 300ms,
                        .body_within = 300ms,
                        .write_within = 1s,
                        .idle_within = 60s}) {}
};

TEST_F(SmallServerTest, IdleConnectionsMakeRoomForOthers) {
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int count = 0; count < 20; ++count) {
    idle.push_back(std::make_unique<RawClient>(server_.port()));
    idle.back()->Send("GET /echo/a HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(StatusOf(idle.back()->ReadAnswer()), 200);
  }
}

TEST_F(SmallServerTest, DrippingHeadsAndBodiesEndAtTheDeadline) {
  RawClient head(server_.port()), body(server_.port());
  head.Send("GET /echo/a HTTP/1.1\r\nHost: loc");
  body.Send(
      "POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 10\r\n\r\nabc");
  ExpectProblem(head.ReadAnswer(), 408, "timeout");
  ExpectProblem(body.ReadAnswer(), 408, "timeout");
  EXPECT_TRUE(head.IsClosed());
}

TEST_F(SmallServerTest, AClientThatDoesNotReadIsGivenUp) {
  RawClient deaf(server_.port());
  for (int count = 0; count < 100; ++count) {
    deaf.Send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  EXPECT_EQ(StatusOf(Get("/echo/a")), 200);
}

}  // namespace
}  // namespace stepscope

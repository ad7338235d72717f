#include "server/edge/tls.h"

#include "tests/server/edge/tls_edge_test.h"

namespace stepscope {
namespace {

class TlsTest : public TlsEdgeTest {};

TEST_F(TlsTest, ServesTheTwoNewestVersionsAndNoOther) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsRawClient client(edge_.port(), {.version = version});
    EXPECT_EQ(BodyOf(AskOver(client, Get("/peer"))), "127.0.0.1 true ") << version;
    EXPECT_EQ(client.shown(), "first.test");
  }
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    EXPECT_FALSE(TlsRawClient(edge_.port(), {.version = version}).connected()) << version;
  }
  EXPECT_EQ(edge_.figures().handshakes, 2U);
  EXPECT_TRUE(Eventually([&] { return edge_.figures().handshake_failures == 2; }));
}

TEST_F(TlsTest, ATicketResumesASession) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsRawClient first(edge_.port(), {.version = version});
    EXPECT_EQ(StatusOf(AskOver(first, Get("/echo"))), 200);  // tickets of 1.3 come with it
    const TlsSession session = first.session();
    TlsRawClient second(edge_.port(), {.version = version, .session = session.get()});
    EXPECT_EQ(StatusOf(AskOver(second, Get("/echo"))), 200);
    EXPECT_FALSE(first.resumed());
    EXPECT_TRUE(second.resumed()) << version;
  }
}

TEST_F(TlsTest, PlainHttpIsToldOnceThatThisPortSpeaksTls) {
  RawClient plain(edge_.port());
  plain.Send(Get("/echo") + Get("/echo"));
  const std::string answer = plain.ReadAnswer();
  EXPECT_EQ(StatusOf(answer), 400);
  EXPECT_NE(BodyOf(answer).find("https://"), std::string::npos);
  EXPECT_TRUE(plain.IsClosed());
}

TEST_F(TlsTest, NoiseIsClosedAndTheServiceGoesOn) {
  for (const std::string_view noise :
       {std::string_view("\0\1\2\3\4\5\6", 7), std::string_view("\x16\3\1\xff\xff\1\2\3\4", 9)}) {
    RawClient client(edge_.port());
    client.Send(noise);
    client.Send(std::string(70'000, '\x16'));
    EXPECT_FALSE(client.ReadToEnd().starts_with("HTTP"));
  }
  EXPECT_EQ(StatusOf(AskTls(Get("/echo"))), 200);
}

TEST_F(TlsTest, TheEndOfTheLastAnswerIsSaid) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsRawClient client(edge_.port(), {.version = version});
    EXPECT_EQ(StatusOf(AskOver(client, Get("/echo", "Connection: close\r\n"))), 200);
    EXPECT_TRUE(client.IsClosed());
    EXPECT_TRUE(client.end_was_said()) << version;
  }
}

TEST_F(TlsTest, ARecordForEachByteIsTheSameRequest) {
  TlsRawClient client(edge_.port());
  const std::string all = Get("/a") + Post("Content-Length: 3\r\n", "abc");
  for (const char byte : all) client.Send({&byte, 1});
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "GET /a?");
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "abc");
}

TEST_F(TlsTest, PipelinedRequestsInOneRecordAreAllAnswered) {
  TlsRawClient client(edge_.port());
  std::string all;
  for (int at = 0; at < 50; ++at) all += Get(Format("/{}", at));
  client.Send(all);
  for (int at = 0; at < 50; ++at) EXPECT_EQ(BodyOf(client.ReadAnswer()), Format("GET /{}?", at));
}

TEST_F(TlsTest, LargeBodiesGoBothWays) {
  TlsRawClient client(edge_.port());
  const std::string body(4'000'000, 'x');
  EXPECT_EQ(BodyOf(AskOver(client, Post("Content-Length: 4000000\r\n", body))), body);
  EXPECT_EQ(BodyOf(AskOver(client, Get("/large?20000000"))).size(), 20'000'000U);
}

// OpenSSL writes without MSG_NOSIGNAL.
TEST_F(TlsTest, ClientsThatBreakAwayHarmNobody) {
  for (int count = 0; count < 20; ++count) {
    TlsRawClient client(edge_.port());
    client.Send(Get("/large?3000000") + Get("/echo"));
    if (count % 2 == 0) client.HasNews(1'000);
    client.Break();
  }
  EXPECT_EQ(StatusOf(AskTls(Get("/echo"))), 200);
  EXPECT_TRUE(Eventually([&] { return edge_.figures().open() == 0; }));
}

TEST_F(TlsTest, OnlyHttp1IsSpoken) {
  TlsRawClient one(edge_.port(), {.protocol = "http/1.1"});
  EXPECT_EQ(StatusOf(AskOver(one, Get("/echo"))), 200);
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(one.ssl(), &name, &size);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(name), size), "http/1.1");
  EXPECT_FALSE(TlsRawClient(edge_.port(), {.protocol = "h2"}).connected());
}

TEST_F(TlsTest, AUnixSocketSpeaksPlainHttp) {
  ASSERT_TRUE(edge_.Listen({.path = Path("http.sock")}).ok());
  RawClient client(RawClient::Socket{ConnectToFile(Path("http.sock"))});
  EXPECT_EQ(BodyOf(AskOver(client, Get("/peer"))), "unix false ");
}

TEST_F(TlsTest, WhatWasSentBeforeAStopIsAnswered) {
  TlsRawClient client(edge_.port()), idle(edge_.port());
  ASSERT_TRUE(client.connected());
  client.Send(Get("/echo"));
  edge_.Stop(10s);
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
  EXPECT_TRUE(client.IsClosed());
  EXPECT_TRUE(idle.IsClosed());
}

class TlsDeadlineTest : public TlsEdgeTest {
 protected:
  TlsDeadlineTest()
      : TlsEdgeTest({.workers = 2, .most_per_address = 0, .handshake_within = 200ms}) {}
};

TEST_F(TlsDeadlineTest, ADrippedHandshakeEnds) {
  RawClient dripping(edge_.port()), silent(edge_.port());
  dripping.Send(std::string_view("\x16\3\1\2\0\1\0\1\xfc\3\3", 11));
  for (int count = 0; count < 500 && !dripping.HasNews(20); ++count) dripping.Send("x");
  dripping.ReadToEnd();
  EXPECT_TRUE(silent.IsClosed());
  EXPECT_EQ(Timeouts(ConnectionState::kHandshake), 2U);
}

TEST_F(TlsDeadlineTest, HalfOpenHandshakesHoldNobody) {
  std::vector<std::unique_ptr<RawClient>> half;
  for (int count = 0; count < 200; ++count) {
    half.push_back(std::make_unique<RawClient>(edge_.port()));
    half.back()->Send("\x16\3\1");
  }
  EXPECT_EQ(StatusOf(AskTls(Get("/echo"))), 200);
}

}  // namespace
}  // namespace stepscope

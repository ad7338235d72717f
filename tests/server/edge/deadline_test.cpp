// Deadlines are absolute: nobody holds a connection by doing a little now and then.

#include "tests/server/edge/edge_test.h"

namespace stepscope {
namespace {

const EdgeOptions kShort{.workers = 2,
                         .head_within = 200ms,
                         .body_within = 200ms,
                         .body_slack = 200ms,
                         .answer_within = 200ms,
                         .write_within = 300ms,
                         .idle_within = 200ms,
                         .drain_within = 200ms};

class DeadlineTest : public EdgeTest {
 protected:
  explicit DeadlineTest(EdgeOptions options = kShort) : EdgeTest(options) {}

  // A byte every 20 ms, which is never too slow for a limit between two bytes; and the answer,
  // which has to come before 10 s of bytes are gone.
  static std::string Drip(RawClient& client, char byte = 'x') {
    for (int count = 0; count < 500 && !client.HasNews(20); ++count) {
      client.Send({&byte, 1});
    }
    return client.ReadAnswer();
  }
};

TEST_F(DeadlineTest, ADrippedHeadEnds) {
  RawClient client(edge_.port());
  const auto start = std::chrono::steady_clock::now();
  client.Send("GET /echo HTTP/1.1\r\nHost: a\r\nX-Drip: ");
  EXPECT_EQ(StatusOf(Drip(client)), 408);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 190ms);
  EXPECT_EQ(Timeouts(ConnectionState::kHead), 1U);
}

TEST_F(DeadlineTest, ADrippedBodyEnds) {
  RawClient client(edge_.port());
  client.Send(Post("Content-Length: 10000\r\n", ""));
  EXPECT_EQ(StatusOf(Drip(client)), 408);
  EXPECT_EQ(Timeouts(ConnectionState::kBody), 1U);
}

TEST_F(DeadlineTest, ADrippedChunkedBodyEnds) {
  RawClient client(edge_.port());
  client.Send(Post("Transfer-Encoding: chunked\r\n", "2710\r\n"));
  EXPECT_EQ(StatusOf(Drip(client)), 408);
  EXPECT_EQ(Timeouts(ConnectionState::kBody), 1U);
}

TEST_F(DeadlineTest, AChunkSizeThatNeverEndsDoes) {
  EXPECT_EQ(StatusOf(Ask(Post("Transfer-Encoding: chunked\r\n", "1"))), 408);
}

TEST_F(DeadlineTest, SilenceEnds) {
  RawClient silent(edge_.port());
  EXPECT_TRUE(silent.IsClosed());
  const auto idle = KnownClient();
  EXPECT_TRUE(idle->IsClosed());
  EXPECT_EQ(Timeouts(ConnectionState::kIdle), 2U);
}

TEST_F(DeadlineTest, AHandlerThatTakesTooLongIsAnsweredFor) {
  RawClient client(edge_.port());
  client.Send(Get("/hold"));
  const std::string answer = client.ReadAnswer();
  EXPECT_EQ(StatusOf(answer), 503);
  EXPECT_EQ(HeaderOf(answer, "retry-after"), "1");
  OpenGate();
  client.Send(Get("/echo"));
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200) << "the late answer must not come instead";
}

TEST_F(DeadlineTest, WhoNeverEndsAfterTheLastAnswerIsCut) {
  RawClient client(edge_.port());
  client.Send(Get("/echo", "Connection: close\r\n"));
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
  EXPECT_TRUE(Eventually([&] { return Timeouts(ConnectionState::kDraining) == 1; }));
  EXPECT_TRUE(Eventually([&] { return edge_.figures().open() == 0; }));
}

class SlowReaderTest : public DeadlineTest {
 protected:
  SlowReaderTest() : DeadlineTest({.workers = 2, .write_within = 300ms}) {}
};

TEST_F(SlowReaderTest, AClientThatNeverReadsIsGivenUp) {
  RawClient client(edge_.port());
  client.Send(Get("/large?20000000"));
  EXPECT_TRUE(Eventually([&] { return Timeouts(ConnectionState::kWriting) == 1; }));
  EXPECT_TRUE(Eventually([&] { return edge_.figures().open() == 0; }));  // counted before it closes
  EXPECT_EQ(edge_.figures().answer_bytes, 0U);
}

TEST_F(SlowReaderTest, AClientThatReadsSteadilyGetsALargeAnswer) {
  RawClient client(edge_.port());
  client.Send(Get("/large?20000000", "Connection: close\r\n"));
  EXPECT_EQ(BodyOf(client.ReadAnswer()).size(), 20'000'000U);
  EXPECT_EQ(Timeouts(ConnectionState::kWriting), 0U);
}

TEST_F(DeadlineTest, ASteadyBodyOfManyPartsIsTaken) {
  RawClient client(edge_.port());
  const std::string part(64 * 1024, 'x');
  client.Send(Post(Format("Content-Length: {}\r\n", 32 * part.size()), ""));
  for (int count = 0; count < 32; ++count) client.Send(part);
  EXPECT_EQ(BodyOf(client.ReadAnswer()).size(), 32 * part.size());
}

}  // namespace
}  // namespace stepscope

// Requests that are answered on the edge's own thread, and those that would have to wait there.

#include "tests/server/edge/edge_test.h"

namespace stepscope {
namespace {

class AtOnceTest : public EdgeTest {
 protected:
  AtOnceTest() : EdgeTest({.workers = 1}) {}

  static std::string PostNow(const std::string& query, const std::string& body) {
    return Format("POST /now{} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}", query,
                  body.size(), body);
  }
};

TEST_F(AtOnceTest, NeedsNoWorker) {
  RawClient held(edge_.port());
  held.Send(Get("/hold"));
  ASSERT_TRUE(AreHeld(1));
  RawClient client(edge_.port());
  for (const char* body : {"one", "two"}) {
    client.Send(PostNow("", body));
    EXPECT_EQ(BodyOf(client.ReadAnswer()), Format("at once: {}", body));
  }
  OpenGate();
  EXPECT_EQ(StatusOf(held.ReadAnswer()), 200);
}

TEST_F(AtOnceTest, WhatWouldWaitIsForAWorkerAsItCame) {
  EXPECT_EQ(BodyOf(Ask(PostNow("?waits", "body"))), "POST /now?waits");
}

TEST_F(AtOnceTest, AnExceptionIsA500) {
  RawClient client(edge_.port());
  client.Send(PostNow("?throws", ""));
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 500);
  client.Send(PostNow("", "more"));
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "at once: more");
}

// More than have their turn here at once: the others go to a worker, and nobody is forgotten.
TEST_F(AtOnceTest, OfManyTogetherSomeGoToAWorker) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int count = 0; count < 40; ++count) clients.push_back(KnownClient());
  RawClient stalled(edge_.port());
  stalled.Send(Get("/stall"));
  ASSERT_TRUE(AreHeld(1));
  for (const auto& client : clients) client->Send(PostNow("", "x"));
  OpenGate();
  int here = 0, on_worker = 0;
  for (const auto& client : clients) {
    const std::string body = BodyOf(client->ReadAnswer());
    here += body == "at once: x" ? 1 : 0;
    on_worker += body == "POST /now?" ? 1 : 0;
  }
  EXPECT_EQ(here + on_worker, 40);
  EXPECT_GT(here, 0);
  EXPECT_GT(on_worker, 0);
}

}  // namespace
}  // namespace stepscope

// When queue or memory are full, the answer says so, and all memory is given back.

#include "tests/server/edge/edge_test.h"

namespace stepscope {
namespace {

void ExpectBusy(const std::string& answer) {
  EXPECT_EQ(StatusOf(answer), 503) << answer.substr(0, 300);
  EXPECT_EQ(HeaderOf(answer, "retry-after"), "1");
}

class QueueTest : public EdgeTest {
 protected:
  QueueTest() : EdgeTest({.workers = 1, .most_queued = 2}) {}
};

TEST_F(QueueTest, OneRequestTooManyIsToldToComeBack) {
  RawClient running(edge_.port()), first(edge_.port()), second(edge_.port());
  running.Send(Get("/hold"));
  EXPECT_TRUE(AreHeld(1));
  first.Send(Get("/echo"));
  second.Send(Get("/echo"));
  EXPECT_TRUE(Eventually([&] { return edge_.figures().queued == 2; }));
  RawClient third(edge_.port());
  third.Send(Post("Content-Length: 4\r\n", "body"));
  ExpectBusy(third.ReadAnswer());
  EXPECT_EQ(edge_.figures().busy, 1U);
  OpenGate();
  EXPECT_TRUE(Eventually([&] { return edge_.figures().queued == 0; }));
  third.Send(Get("/echo"));
  for (RawClient* client : {&running, &first, &second, &third}) {
    EXPECT_EQ(StatusOf(client->ReadAnswer()), 200) << "the connections are kept";
  }
}

class LaneTest : public EdgeTest {
 protected:
  LaneTest() : EdgeTest({.workers = 4}) {}
};

TEST_F(LaneTest, RequestsThatWaitLongLeaveAWorkerToOthers) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int count = 0; count < 8; ++count) {
    clients.push_back(std::make_unique<RawClient>(edge_.port()));
    clients.back()->Send(Get("/hold?most"));
  }
  EXPECT_TRUE(AreHeld(3));
  EXPECT_TRUE(Eventually([&] { return edge_.figures().queued == 5; }));
  EXPECT_EQ(StatusOf(Ask(Get("/echo"))), 200);
  OpenGate();
  for (const auto& client : clients) EXPECT_EQ(StatusOf(client->ReadAnswer()), 200);
}

class BodyBudgetTest : public EdgeTest {
 protected:
  BodyBudgetTest() : EdgeTest({.workers = 1, .most_body_bytes = 1024 * 1024}) {}
};

TEST_F(BodyBudgetTest, BodiesOfAllRequestsTogetherHaveABound) {
  const std::string most(900'000, 'x');
  RawClient first(edge_.port()), second(edge_.port());
  first.Send(Post("Content-Length: 900001\r\n", most));
  EXPECT_TRUE(Eventually([&] { return edge_.figures().body_bytes >= 900'000; }));
  second.Send(Post("Content-Length: 900001\r\n", most));
  ExpectBusy(second.ReadAnswer());
  first.Send("x");
  EXPECT_EQ(BodyOf(first.ReadAnswer()).size(), 900'001U);
  EXPECT_TRUE(Eventually([&] { return edge_.figures().body_bytes == 0; }));
  EXPECT_EQ(BodyOf(Ask(Post("Content-Length: 900000\r\n", most))).size(), 900'000U);
}

class AnswerBudgetTest : public EdgeTest {
 protected:
  AnswerBudgetTest() : EdgeTest({.workers = 1, .most_answer_bytes = 30'000'000}) {}
};

TEST_F(AnswerBudgetTest, AnswersThatNobodyReadsHaveABound) {
  RawClient deaf(edge_.port());
  deaf.Send(Get("/large?29000000"));
  EXPECT_TRUE(Eventually([&] { return Count(ConnectionState::kWriting) == 1; }));
  ExpectBusy(Ask(Get("/large?2000000")));
  EXPECT_EQ(StatusOf(Ask(Get("/echo"))), 200) << "small ones always fit";
  EXPECT_EQ(BodyOf(deaf.ReadAnswer()).size(), 29'000'000U);
  EXPECT_TRUE(Eventually([&] { return edge_.figures().answer_bytes == 0; }));
  EXPECT_EQ(BodyOf(Ask(Get("/large?2000000"))).size(), 2'000'000U);
}

}  // namespace
}  // namespace stepscope

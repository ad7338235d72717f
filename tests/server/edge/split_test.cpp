// However the network cuts the bytes of a client, the answers are the same.

#include "tests/server/edge/edge_test.h"
#include "tests/support/cuts.h"
#include "tests/support/gzipped.h"

namespace stepscope {
namespace {

class SplitTest : public EdgeTest {
 protected:
  SplitTest() : EdgeTest({.workers = 2, .most_per_address = 0}) {}

  // Sends the pieces, each in a segment of its own as far as the edge can see, and ends.
  std::string Answers(const Pieces& pieces) const {
    RawClient client(edge_.port());
    client.SendAtOnce();
    for (const std::string_view piece : pieces) client.Send(piece);
    client.EndSending();
    return client.ReadToEnd();
  }

  void ExpectSameHoweverCut(const std::string& bytes) const {
    const std::string whole = Answers({bytes});
    EXPECT_TRUE(whole.starts_with("HTTP/1.1 ")) << bytes;
    for (std::size_t at = 1; at < bytes.size(); ++at) {
      ASSERT_EQ(Answers(CutAt(bytes, at)), whole) << at << " of " << bytes;
    }
    ASSERT_EQ(Answers(CutEverywhere(bytes)), whole) << bytes;
  }
};

TEST_F(SplitTest, OneRequest) {
  ExpectSameHoweverCut(Get("/echo", "X-One: 1\r\n"));
  ExpectSameHoweverCut(Post("Content-Length: 5\r\n", "hello"));
}

TEST_F(SplitTest, PipelinedRequestsOfAllFramings) {
  const std::string packed = Gzipped("packed");
  ExpectSameHoweverCut(
      Get("/a") + Post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n") +
      Post(Format("Content-Encoding: gzip\r\nContent-Length: {}\r\n", packed.size()), packed) +
      "HEAD /b HTTP/1.1\r\nHost: a\r\n\r\n" + Get("/c", "Connection: close\r\n"));
}

TEST_F(SplitTest, WhatIsRefused) {
  ExpectSameHoweverCut("GET /echo HTTP/1.1\r\nHost: a\r\nBad Name: x\r\n\r\n");
  ExpectSameHoweverCut("GET /echo HTTP/1.1\r\n\r\n");
  ExpectSameHoweverCut(Post("Transfer-Encoding: chunked\r\n", "3;x=1\r\nabc\r\n0\r\n\r\n"));
  ExpectSameHoweverCut("GET /echo HTTP/1.1\r\nHost: a\r\n");
  ExpectSameHoweverCut(Post("Content-Length: 5\r\n", "hell"));
}

}  // namespace
}  // namespace stepscope

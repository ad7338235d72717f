// The client of cpp-httplib, which does not share our code, against the edge.

#include <httplib.h>

#include "tests/server/front/http_server_test.h"

namespace stepscope {
namespace {

class HttplibClientTest : public HttpServerTest {
 protected:
  HttplibClientTest() : client_("127.0.0.1", server_.port()) { client_.set_keep_alive(true); }
  static std::string BodyOf(const httplib::Result& result) {
    return result ? result->body : "no answer: " + to_string(result.error());
  }

  httplib::Client client_;
};

TEST_F(HttplibClientTest, AsksSeveralTimesOverOneConnection) {
  for (int count = 0; count < 3; ++count) {
    const auto result = client_.Get("/echo/a?b=c", {{"X-Mark", "mine"}});
    EXPECT_EQ(BodyOf(result), "a|b=c|mine");
  }
  EXPECT_EQ(server_.figures().accepted, 1u);
}

TEST_F(HttplibClientTest, SendsBodiesByLengthInChunksAndPacked) {
  std::string body;
  for (int number = 0; body.size() < 200'000; ++number) body += Format("{} ", number);
  body.resize(200'000);
  EXPECT_EQ(BodyOf(client_.Post("/size", body, "application/json")), "200000");
  const auto write = [&](std::size_t offset, httplib::DataSink& sink) {
    sink.write(body.data() + offset, std::min<std::size_t>(body.size() - offset, 70'000));
    if (offset + 70'000 >= body.size()) sink.done();
    return true;
  };
  EXPECT_EQ(BodyOf(client_.Post("/size", write, "application/json")), "200000");
  client_.set_compress(true);
  EXPECT_EQ(BodyOf(client_.Post("/size", body, "application/json")), "200000");
}

TEST_F(HttplibClientTest, ReadsPackedAnswersAndHeads) {
  EXPECT_EQ(BodyOf(client_.Get("/large")), "[" + std::string(100'000, ' ') + "]");
  const auto head = client_.Head("/large");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->get_header_value("ETag"), "\"one\"");
  EXPECT_EQ(head->body, "");
  EXPECT_EQ(client_.Get("/nowhere")->status, 404);
}

}  // namespace
}  // namespace stepscope

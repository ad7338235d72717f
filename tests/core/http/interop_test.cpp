// The server of cpp-httplib, which does not share our code, against our client.

#include <gtest/gtest.h>
#include <httplib.h>

#include <thread>

#include "core/base/text.h"
#include "core/http/client.h"

namespace stepscope {
namespace {

class HttplibServerTest : public testing::Test {
 protected:
  HttplibServerTest() {
    server_.Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
      response.set_header("X-Seen", request.get_header_value("X-Mine"));
      response.set_content(request.body, "text/plain");
    });
    server_.Get("/chunks", [](const httplib::Request&, httplib::Response& response) {
      response.set_chunked_content_provider(
          "text/plain", [](std::size_t offset, httplib::DataSink& sink) {
            if (offset >= 30'000) return sink.done(), true;
            return sink.write(std::string(10'000, 'x').data(), 10'000);
          });
    });
    server_.Get("/nothing", [](const httplib::Request&, httplib::Response& response) {
      response.status = 204;
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    serving_ = std::thread([this] { server_.listen_after_bind(); });
    client_ = *HttpClient::Make(*ParseUrl(Format("http://127.0.0.1:{}/", port_)));
  }
  ~HttplibServerTest() override {
    client_.reset();
    server_.stop();
    serving_.join();
  }

  httplib::Server server_;
  int port_ = 0;
  std::thread serving_;
  std::unique_ptr<HttpClient> client_;
};

TEST_F(HttplibServerTest, TakesWhatWeSendAndSaysItAgain) {
  const std::string body(300, 'b');
  for (int count = 0; count < 3; ++count) {
    const auto answer = client_->Send({.target = "/echo",
                                       .headers = {{"Content-Type", "text/x"}, {"X-Mine", "1"}},
                                       .body = body});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->Header("x-seen"), "1");
    EXPECT_EQ(answer->body, body);
  }
}

TEST_F(HttplibServerTest, ItsAnswersOfAllKindsAreRead) {
  const auto chunks = client_->Send({.method = "GET", .target = "/chunks"});
  ASSERT_TRUE(chunks.ok()) << chunks.error().message;
  EXPECT_EQ(chunks->body, std::string(30'000, 'x'));
  const auto nothing = client_->Send({.method = "GET", .target = "/nothing"});
  ASSERT_TRUE(nothing.ok()) << nothing.error().message;
  EXPECT_EQ(nothing->status, 204);
  const auto nowhere = client_->Send({.method = "GET", .target = "/nowhere"});
  ASSERT_TRUE(nowhere.ok()) << nowhere.error().message;
  EXPECT_EQ(nowhere->status, 404);
}

}  // namespace
}  // namespace stepscope

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>

#include "core/base/json.h"
#include "core/base/text.h"
#include "server/edge/edge.h"
#include "server/front/front.h"
#include "tests/support/raw_client.h"

namespace stepscope {
inline std::vector<Route> TestRoutes() {
  return {
      {.method = "GET",
       .pattern = "/echo/{name}",
       .handler =
           [](const Request& request, const PathParameters& parameters) {
             return Reply{.status = 200,
                          .content_type = "text/plain",
                          .body = parameters.at("name") + "|" + request.query + "|" +
                                  std::string(request.Header("x-mark")),
                          .headers = {}};
           }},
      {.method = "POST",
       .pattern = "/size",
       .handler =
           [](const Request& request, const PathParameters&) {
             return Reply{.status = 200,
                          .content_type = "text/plain",
                          .body = std::to_string(request.body.size()),
                          .headers = {}};
           }},
      {.method = "GET",
       .pattern = "/throws",
       .handler = [](const Request&, const PathParameters&) -> Reply {
         throw std::runtime_error("select secret from table");
       }},
      {.method = "POST",
       .pattern = "/later",
       .later =
           [](const std::shared_ptr<const Request>& head, std::string_view body,
              const Respond& respond, MayWait) {
             respond({.status = 200,
                      .content_type = "text/plain",
                      .body = Format("{} of {}", head->body.size(), body.size()),
                      .headers = {}});
             if (head->query == "throws") throw std::runtime_error("select secret from table");
             return true;
           }},
      {.method = "POST",
       .pattern = "/now",
       .later =
           [](const std::shared_ptr<const Request>& head, std::string_view body,
              const Respond& respond, MayWait may_wait) {
             const bool now = may_wait == MayWait::kNo;
             if (now && head->query == "throws") throw std::runtime_error("select secret");
             if (now && head->query == "waits") return false;
             respond({.status = 200,
                      .content_type = "text/plain",
                      .body = now ? Format("now: {} of {}", head->body.size(), body.size())
                                  : Format("later: {} {}", head->query, body),
                      .headers = {}});
             return true;
           },
       .at_once = true},
      {.method = "GET",
       .pattern = "/later/slow",
       .later =
           [](const auto&, auto, const Respond& respond, MayWait) {
             std::this_thread::sleep_for(std::chrono::milliseconds(200));
             respond({});
             return true;
           },
       .answer_within = std::chrono::milliseconds(50)},
      {.method = "GET",
       .pattern = "/later/throws",
       .later = [](const auto&, auto, const auto&, MayWait) -> bool {
         throw std::runtime_error("select secret from table");
       }},
      {.method = "GET",
       .pattern = "/large",
       .handler =
           [](const Request&, const PathParameters&) {
             return Reply{.status = 200,
                          .content_type = "application/json",
                          .body = "[" + std::string(100'000, ' ') + "]",
                          .headers = {{"ETag", "\"one\""}}};
           }},
  };
}

class HttpServerTest : public testing::Test {
 protected:
  explicit HttpServerTest(EdgeOptions options = {}) : server_(options, front_.Handlers()) {
    const Status listening = server_.Listen({.host = "127.0.0.1"});
    EXPECT_TRUE(listening.ok());
  }

  std::string Ask(const std::string& request) {
    RawClient client(server_.port());
    client.Send(request);
    return client.ReadAnswer();
  }
  std::string Get(const std::string& target, const std::string& more = "") {
    return Ask("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n");
  }
  std::string Post(const std::string& headers, const std::string& body,
                   const std::string& target = "/size") {
    return Ask("POST " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" + body);
  }
  static void ExpectProblem(const std::string& answer, int status, const std::string& code) {
    EXPECT_EQ(StatusOf(answer), status) << answer.substr(0, 500);
    EXPECT_EQ(HeaderOf(answer, "content-type"), "application/problem+json");
    const Result<Json> problem = ParseJson(BodyOf(answer));
    ASSERT_TRUE(problem.ok()) << answer;
    EXPECT_EQ((*problem)["code"], code);
    EXPECT_EQ((*problem)["request_id"], HeaderOf(answer, "x-request-id"));
  }

  SystemClock clock_;
  Database nobody_asks_{"", 1};
  Access access_{nobody_asks_, clock_, false};
  Front front_{TestRoutes(), nullptr, {{"localhost", "127.0.0.1", "[::1]"}}, access_, clock_};
  Edge server_;
};

}  // namespace stepscope

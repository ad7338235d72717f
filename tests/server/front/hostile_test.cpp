// Requests that mean harm, or are broken: the traps that this server cures.

#include "tests/server/front/http_server_test.h"

#include <gtest/gtest.h>

#include "tests/support/gzipped.h"

namespace stepscope {
namespace {

TEST_F(HttpServerTest, BodiesAreTakenUpToTheRoutesLimit) {
  const std::string type = "Content-Type: application/json\r\n";
  const std::string full(kMostJsonBody, 'x');
  EXPECT_EQ(BodyOf(Post(type + "Content-Length: 262144\r\n", full)), "262144");
  ExpectProblem(Post(type + "Content-Length: 262145\r\n", full + "x"), 413, "too-large");
  ExpectProblem(Post(type + "Content-Length: 1000000000000\r\n", ""), 413, "too-large");
}

TEST_F(HttpServerTest, ContinueIsSaidWhenExpected) {
  RawClient client(server_.port());
  client.Send(
      "POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 100);
  client.Send("abc");
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "3");
}

TEST_F(HttpServerTest, BodiesOfUnclearLengthAreRefusedAndTheConnectionEnds) {
  for (const std::string framing :
       {"Content-Length: 3\r\nContent-Length: 4\r\n", "Content-Length: +5\r\n",
        "Content-Length: abc\r\n", "Content-Length: -1\r\n", "Content-Length: 3, 3\r\n"}) {
    ExpectProblem(Post("Content-Type: application/json\r\n" + framing, "abc"), 400, "bad-request");
  }
  const auto chunked = [&](const std::string& framing, const std::string& body) {
    return Post("Content-Type: application/json\r\nTransfer-Encoding: " + framing + "\r\n", body);
  };
  ExpectProblem(chunked("chunked", "-2\r\nabc\r\n0\r\n\r\n"), 400, "bad-request");
  ExpectProblem(chunked("chunked\r\nContent-Length: 3", "abc"), 400, "bad-request");
  ExpectProblem(chunked("gzip, chunked", "abc"), 501, "not-implemented");
}

TEST_F(HttpServerTest, ChunkedAndPackedBodiesAreTakenUpToTheRoutesLimit) {
  const std::string json = "Content-Type: application/json\r\n";
  EXPECT_EQ(BodyOf(Post(json + "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n")), "3");
  const auto packed = [&](std::size_t bytes) {
    const std::string body = Gzipped(std::string(bytes, 'x'));
    return Post(
        json + "Content-Encoding: gzip\r\nContent-Length: " + std::to_string(body.size()) + "\r\n",
        body);
  };
  EXPECT_EQ(BodyOf(packed(60'000)), "60000");
  ExpectProblem(packed(kMostJsonBody + 1), 413, "too-large");
}

TEST_F(HttpServerTest, ABodyBehindAGetIsNeverReadAsARequest) {
  RawClient client(server_.port());
  const std::string hidden = "GET /echo/hidden HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.Send("GET /echo/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
              std::to_string(hidden.size()) + "\r\n\r\n" + hidden);
  const std::string answers = client.ReadToEnd();
  ExpectProblem(answers, 400, "bad-request");
  EXPECT_EQ(answers.find("hidden"), std::string::npos);
}

TEST_F(HttpServerTest, EncodedAndForeignTypesOfBodiesAreRefused) {
  const std::string three = "Content-Length: 3\r\n";
  ExpectProblem(Post(three + "Content-Type: application/json\r\nContent-Encoding: br\r\n", "abc"),
                415, "unsupported-media-type");
  ExpectProblem(Post(three + "Content-Type: text/plain\r\n", "abc"), 415, "unsupported-media-type");
  ExpectProblem(Post(three + "Content-Type: multipart/form-data; boundary=x\r\n", "abc"), 415,
                "unsupported-media-type");
  ExpectProblem(Post(three, "abc"), 415, "unsupported-media-type");
}

TEST_F(HttpServerTest, RangesChangeNothing) {
  std::string ranges = "Range: bytes=0-";
  for (int count = 0; count < 1'000; ++count) ranges += ",0-";
  const std::string answer = Get("/large", ranges + "\r\n");
  EXPECT_EQ(StatusOf(answer), 200);
  EXPECT_EQ(BodyOf(answer).size(), 100'002U);
}

TEST_F(HttpServerTest, LongHeadsAreRefusedWhileTheyArrive) {
  ExpectProblem(Get("/echo/" + std::string(3'000, 'a')), 414, "target-too-long");
  ExpectProblem(Get("/echo/" + std::string(8'100, 'a')), 414, "target-too-long");
  std::string many;
  for (int count = 0; count < 100; ++count) many += "X-A: b\r\n";
  ExpectProblem(Get("/echo/a", many), 431, "head-too-large");
  RawClient target(server_.port()), header(server_.port());
  target.Send("GET /" + std::string(1'000'000, 'a'));  // never a line end
  ExpectProblem(target.ReadAnswer(), 414, "target-too-long");
  header.Send("GET / HTTP/1.1\r\nX-A: " + std::string(1'000'000, 'a'));
  ExpectProblem(header.ReadAnswer(), 431, "head-too-large");
}

TEST_F(HttpServerTest, NonsenseGetsAProblem) {
  for (const std::string request : {"\r\n\r\n", "GET\r\n\r\n", "GET / HTTX/9.9\r\n\r\n",
                                    "FROB / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n"}) {
    ExpectProblem(Ask(request), 400, "bad-request");
  }
  ExpectProblem(Ask("GET / HTTP/9.9\r\n\r\n"), 505, "version-not-supported");
  ExpectProblem(Ask("GET /echo/a HTTP/1.1\r\n\r\n"), 400, "bad-request");  // no Host
  ExpectProblem(Get("/echo/%zz"), 400, "bad-request");
  ExpectProblem(Get("/echo/a%00b"), 400, "bad-request");
  ExpectProblem(Get("http://localhost/echo/a"), 400, "bad-request");
}

TEST_F(HttpServerTest, OnlyItsOwnHostNamesAreAnswered) {
  const auto ask = [&](const std::string& host) {
    return Ask("GET /echo/a HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  };
  EXPECT_EQ(StatusOf(ask("LOCALHOST:8080")), 200);
  EXPECT_EQ(StatusOf(ask("[::1]:8080")), 200);
  ExpectProblem(ask("evil.example.com"), 421, "misdirected");
  ExpectProblem(ask("localhost.evil.example.com"), 421, "misdirected");
  ExpectProblem(ask("localhost\r\nHost: evil.example.com"), 400, "bad-request");
}

TEST_F(HttpServerTest, PagesOfOtherOriginsChangeNothing) {
  const std::string json = "Content-Type: application/json\r\nContent-Length: 2\r\n";
  ExpectProblem(Post(json + "Origin: http://evil.example.com\r\n", "{}"), 403, "foreign-origin");
  ExpectProblem(Post(json + "Origin: null\r\n", "{}"), 403, "foreign-origin");
  ExpectProblem(Post(json + "Sec-Fetch-Site: cross-site\r\n", "{}"), 403, "foreign-origin");
  EXPECT_EQ(
      StatusOf(Post(json + "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n", "{}")),
      200);
}

TEST_F(HttpServerTest, ShadowHeadersDoNotChangeWhoAsks) {
  const Request request{.method = "",
                        .path = "",
                        .query = "",
                        .headers = {{"x", "y"}},
                        .body = "",
                        .peer = "",
                        .request_id = ""};
  EXPECT_EQ(request.Header("x"), "y");
  EXPECT_EQ(StatusOf(Get("/echo/a", "REMOTE_ADDR: 10.0.0.1\r\n")), 200);
}

}  // namespace
}  // namespace stepscope

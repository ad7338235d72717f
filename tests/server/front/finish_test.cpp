#include "server/front/finish.h"

#include <gtest/gtest.h>

#include "core/wire/compress.h"
#include "server/edge/http/write_answer.h"
#include "tests/support/raw_client.h"

namespace stepscope {
namespace {

const Time kNow = FromMicros(784'111'777'999'999);

std::string FinishedHeader(const Request& request, std::string_view name, Reply reply = {}) {
  Finish(request, kNow, 1ms, reply);
  AnswerForm form;
  return HeaderOf(WriteAnswer(std::move(reply), form), name);
}

Request Ask(const std::string& host, bool secure) {
  Request request;
  request.headers = {{"host", host}};
  request.secure = secure;
  request.request_id = "17";
  return request;
}

TEST(Finish, EveryAnswerIsLockedDown) {
  const Request request = Ask("localhost", false);
  EXPECT_EQ(FinishedHeader(request, "content-security-policy"),
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
            "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types stepscope");
  EXPECT_EQ(FinishedHeader(request, "x-content-type-options"), "nosniff");
  EXPECT_EQ(FinishedHeader(request, "referrer-policy"), "no-referrer");
  EXPECT_EQ(FinishedHeader(request, "cross-origin-opener-policy"), "same-origin");
  EXPECT_EQ(FinishedHeader(request, "cross-origin-resource-policy"), "same-origin");
  EXPECT_EQ(FinishedHeader(request, "cache-control"), "no-store");
  EXPECT_EQ(FinishedHeader(request, "x-request-id"), "17");
  EXPECT_EQ(FinishedHeader(request, "date"), "Sun, 06 Nov 1994 08:49:37 GMT");
}

// A report has a policy of its own, and the rest as everybody.
TEST(Finish, WhatAnAnswerSaysItselfStands) {
  const Reply own{.body = {}, .headers = {{"Content-Security-Policy", "default-src 'none'"}}};
  const Request request = Ask("localhost", false);
  EXPECT_EQ(FinishedHeader(request, "content-security-policy", own), "default-src 'none'");
  EXPECT_EQ(FinishedHeader(request, "x-content-type-options", own), "nosniff");
  EXPECT_EQ(FinishedHeader(request, "permissions-policy", own),
            "camera=(), geolocation=(), microphone=()");
}

Reply LargeFor(const std::string& accepted) {
  Request request = Ask("localhost", false);
  request.headers["accept-encoding"] = accepted;
  Reply reply{.body = std::string(100'000, '7'), .headers = {}};
  Finish(request, kNow, 1ms, reply);
  return reply;
}

std::string CodingFor(const std::string& accepted) {
  for (const auto& [name, value] : LargeFor(accepted).headers) {
    if (name == "Content-Encoding") return value;
  }
  return "";
}

TEST(Finish, LargeJsonIsPackedAsTheClientTakesIt) {
  EXPECT_EQ(CodingFor("gzip, deflate, br, zstd"), "zstd");
  EXPECT_EQ(CodingFor("zstd"), "zstd");
  EXPECT_EQ(CodingFor("gzip, zstd;q=0"), "gzip");
  EXPECT_EQ(CodingFor("gzip"), "gzip");
  EXPECT_EQ(CodingFor("*"), "gzip") << "who names nothing may not know the newer one";
  EXPECT_EQ(CodingFor("br"), "");
  EXPECT_EQ(CodingFor(""), "");
}

TEST(Finish, WhatIsPackedByZstdIsTheSameText) {
  const Result<std::string> text = Decompress(LargeFor("zstd").body, 100'000);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, std::string(100'000, '7'));
}

TEST(Finish, BrowsersAreToldToKeepToTlsOnNamedHostsOnly) {
  constexpr const char* kHeader = "strict-transport-security";
  EXPECT_EQ(FinishedHeader(Ask("stepscope.example:8443", true), kHeader), "max-age=31536000");
  EXPECT_EQ(FinishedHeader(Ask("stepscope.example:8443", false), kHeader), "");
  for (const char* host : {"localhost:8443", "192.0.2.1:8443", "[::1]:8443", "build-host"}) {
    EXPECT_EQ(FinishedHeader(Ask(host, true), kHeader), "") << host;
  }
}

}  // namespace
}  // namespace stepscope

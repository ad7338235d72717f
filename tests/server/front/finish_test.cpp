#include "server/front/finish.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/wire/compress.h"

namespace stepscope {
namespace {

std::string HeaderOf(const Request& request, std::string_view name) {
  Reply reply;
  Finish(request, 1ms, reply);
  const auto found =
      std::ranges::find(reply.headers, name, &std::pair<std::string, std::string>::first);
  return found == reply.headers.end() ? "" : found->second;
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
  EXPECT_EQ(HeaderOf(request, "Content-Security-Policy"),
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
            "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types stepscope");
  EXPECT_EQ(HeaderOf(request, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(HeaderOf(request, "Referrer-Policy"), "no-referrer");
  EXPECT_EQ(HeaderOf(request, "Cross-Origin-Opener-Policy"), "same-origin");
  EXPECT_EQ(HeaderOf(request, "Cross-Origin-Resource-Policy"), "same-origin");
  EXPECT_EQ(HeaderOf(request, "Cache-Control"), "no-store");
  EXPECT_EQ(HeaderOf(request, "X-Request-Id"), "17");
}

Reply LargeFor(const std::string& accepted) {
  Request request = Ask("localhost", false);
  request.headers["accept-encoding"] = accepted;
  Reply reply{.body = std::string(100'000, '7'), .headers = {}};
  Finish(request, 1ms, reply);
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
  constexpr const char* kHeader = "Strict-Transport-Security";
  EXPECT_EQ(HeaderOf(Ask("stepscope.example:8443", true), kHeader), "max-age=31536000");
  EXPECT_EQ(HeaderOf(Ask("stepscope.example:8443", false), kHeader), "");
  for (const char* host : {"localhost:8443", "192.0.2.1:8443", "[::1]:8443", "build-host"}) {
    EXPECT_EQ(HeaderOf(Ask(host, true), kHeader), "") << host;
  }
}

}  // namespace
}  // namespace stepscope

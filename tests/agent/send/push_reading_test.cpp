// The meaning of answers to pushes, of services and of others.

#include <gtest/gtest.h>

#include "agent/send/sender.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

PushReading Read(int status, std::string body, HttpHeaders headers = {}) {
  return ReadPushAnswer(HttpAnswer{status, std::move(headers), std::move(body)});
}

std::string ProblemText(std::string_view code, std::string_view more = "") {
  return Format(R"({{"type":"x","code":"{}","detail":"why"{}}})", code, more);
}

constexpr const char* kTaken =
    R"({"acknowledged":3,"expected":4,"rejected":[],"server_time_us":1800000000000000})";

TEST(ReadPushAnswer, BelievesOnlyOurOwn200) {
  EXPECT_EQ(Read(200, kTaken).outcome, PushResponse::kTaken);
  EXPECT_EQ(Read(200, kTaken).answer.acknowledged, 3u);
  for (const char* body :
       {"", "OK", "{}", "[]", "null", "<html>welcome</html>",
        R"({"acknowledged":-1,"expected":4,"rejected":[],"server_time_us":1})",
        R"({"acknowledged":3.5,"expected":4,"rejected":[],"server_time_us":1})",
        R"({"acknowledged":3,"expected":4,"rejected":[7],"server_time_us":1})"}) {
    EXPECT_EQ(Read(200, body).outcome, PushResponse::kSick) << body;
  }
  for (const int status : {201, 202, 204, 206, 301, 302, 307, 404, 422, 500, 100, 999}) {
    EXPECT_EQ(Read(status, kTaken).outcome, PushResponse::kSick) << status;
  }
}

TEST(ReadPushAnswer, TellsTheConflictsApart) {
  const auto gap = Read(409, ProblemText("gap", R"(,"expected":17)"));
  EXPECT_EQ(gap.outcome, PushResponse::kGap);
  EXPECT_EQ(gap.expected, 17u);
  EXPECT_EQ(Read(409, ProblemText("unknown-schema")).outcome, PushResponse::kUnknownSchema);
  EXPECT_EQ(Read(409, ProblemText("job-ended")).outcome, PushResponse::kOver);
  EXPECT_EQ(Read(409, ProblemText("else")).outcome, PushResponse::kSick);
  EXPECT_EQ(Read(409, "conflict").outcome, PushResponse::kSick);
  EXPECT_EQ(Read(410, ProblemText("retired")).outcome, PushResponse::kOver);
  EXPECT_EQ(Read(410, "<html>").outcome, PushResponse::kSick);
}

TEST(ReadPushAnswer, HalvesOnlyForBadBodies) {
  EXPECT_EQ(Read(400, ProblemText("bad-frame")).outcome, PushResponse::kBadBody);
  EXPECT_EQ(Read(415, ProblemText("bad-type")).outcome, PushResponse::kBadBody);
  EXPECT_EQ(Read(413, "<html>nginx</html>").outcome, PushResponse::kBadBody);
  EXPECT_FALSE(Read(413, "<html>nginx</html>").ours);
  EXPECT_EQ(Read(400, "<html>").outcome, PushResponse::kSick);
  EXPECT_EQ(Read(400, ProblemText("bad-request")).outcome, PushResponse::kSick);
}

TEST(ReadPushAnswer, RespectsRetryAfterWithinReason) {
  EXPECT_EQ(Read(503, "", {{"retry-after", "7"}}).retry_after, 7s);
  EXPECT_EQ(Read(429, ProblemText("busy"), {{"Retry-After", " 12 "}}).retry_after, 12s);
  EXPECT_EQ(Read(503, "", {{"Retry-After", "86400"}}).retry_after, 300s);
  for (const char* odd :
       {"", "-5", "soon", "1e9", "99999999999999999999", "Fri, 20 Nov 2026 20:00:00 GMT"}) {
    EXPECT_EQ(Read(503, "", {{"Retry-After", odd}}).retry_after, 0s) << odd;
  }
}

TEST(ReadPushAnswer, TakesTheReasonFromWhoeverSpoke) {
  EXPECT_EQ(Read(401, ProblemText("bad-token")).outcome, PushResponse::kForbidden);
  EXPECT_EQ(Read(403, "no").outcome, PushResponse::kForbidden);
  EXPECT_EQ(Read(503, ProblemText("busy")).reason, "why");
  EXPECT_EQ(Read(502, "<html>").reason, "it answers with HTTP status 502");
  EXPECT_EQ(ReadPushAnswer(Unavailable("cannot connect")).reason, "cannot connect");
  EXPECT_EQ(Read(503, R"({"code":"x","detail":"\u001b[31mred"})").reason.find('\x1b'),
            std::string::npos);
}

}  // namespace
}  // namespace stepscope

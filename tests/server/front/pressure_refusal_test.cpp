#include <gtest/gtest.h>

#include <algorithm>

#include "server/front/front.h"

namespace stepscope {
namespace {

Route MakeRoute(std::string_view pattern, Traffic traffic) {
  return {.method = "GET",
          .pattern = pattern,
          .handler = [](const Request&, const PathParameters&) { return Reply{}; },
          .right = Right::kOpen,
          .traffic = traffic};
}

Route LaterRoute() {
  Route route = MakeRoute("/later", Traffic::kFrames);
  route.handler = nullptr;
  route.later = [](const auto&, auto, const Respond& respond, MayWait) {
    respond({});
    return true;
  };
  route.answer_within = 4s;
  return route;
}

class PressureRefusal : public testing::Test {
 protected:
  using Headers = std::map<std::string, std::string>;
  HeadVerdict Check(const std::string& path, Headers headers = {},
                    const std::string& peer = "127.0.0.1") {
    headers["host"] = "localhost";
    Request head{.method = "GET",
                 .path = path,
                 .query = "",
                 .headers = std::move(headers),
                 .body = "",
                 .peer = peer,
                 .request_id = "1"};
    return front_.CheckHead(head);
  }
  void Press(Load load) {
    load_ = load;
    gauge_.Update();
  }

  Load load_;
  PressureGauge gauge_{[this] { return load_; }};
  SystemClock clock_;
  Database nobody_asks_{"", 1};
  Access access_{nobody_asks_, clock_, false};
  Front front_{{MakeRoute("/page", Traffic::kPeople), MakeRoute("/bulk", Traffic::kBulk),
                MakeRoute("/samples", Traffic::kSamples), MakeRoute("/frames", Traffic::kFrames),
                MakeRoute("/change", Traffic::kChanges), LaterRoute()},
               nullptr,
               {.hosts = {"localhost"}, .pressure = &gauge_},
               access_,
               clock_};
};

TEST_F(PressureRefusal, NobodyIsRefusedAtRest) {
  for (const char* path : {"/page", "/bulk", "/frames"}) {
    EXPECT_EQ(Check(path).kind, HeadVerdict::kPass) << path;
  }
}

TEST_F(PressureRefusal, BulkReadersAreToldToComeBack) {
  Press({.queue = 0.6});
  const HeadVerdict verdict = Check("/bulk");
  EXPECT_EQ(verdict.refusal.status, 429);
  EXPECT_EQ(std::ranges::count(verdict.refusal.headers,
                               std::pair<std::string, std::string>("Retry-After", "5")),
            1);
  EXPECT_EQ(Check("/frames").kind, HeadVerdict::kPass);
  EXPECT_EQ(Check("/page").kind, HeadVerdict::kPass);
}

TEST_F(PressureRefusal, ThePageReadsOnWhereProgramsAreRefused) {
  Press({.queue = 0.6});
  EXPECT_EQ(Check("/bulk", {{"sec-fetch-site", "same-origin"}}).kind, HeadVerdict::kPass);
  EXPECT_EQ(Check("/bulk", {{"sec-fetch-site", "cross-site"}}).kind, HeadVerdict::kRefuse);
}

TEST_F(PressureRefusal, AProgramThatSaysItIsThePageIsNone) {
  Press({.queue = 0.6});
  const std::string far = "198.51.100.7";
  const Headers page{{"sec-fetch-site", "same-origin"}};
  EXPECT_EQ(Check("/bulk", page, far).refusal.status, 429);
  Headers program = page;
  program["authorization"] = "Bearer a-token";
  EXPECT_EQ(Check("/bulk", program).refusal.status, 429);
  Headers browser = page;
  browser["cookie"] = "st=secret";
  EXPECT_EQ(Check("/bulk", browser, far).kind, HeadVerdict::kPass);
  browser["authorization"] = "Bearer a-token";
  EXPECT_EQ(Check("/bulk", browser, far).refusal.status, 429) << "the token is who asks";
}

TEST_F(PressureRefusal, SamplesComeBackLaterWhoeverSendsThem) {
  EXPECT_EQ(Check("/samples").kind, HeadVerdict::kPass);
  Press({.queue = 0.6});
  EXPECT_EQ(Check("/samples", {{"sec-fetch-site", "same-origin"}}).refusal.status, 429);
}

TEST_F(PressureRefusal, AFullEdgeIsNoFaultOfTheService) {
  Request head{.method = "GET",
               .path = "/page",
               .query = "",
               .headers = {},
               .body = "",
               .peer = "127.0.0.1",
               .request_id = "1"};
  const Reply reply = front_.Handlers().fault(head, "busy", "too many requests wait");
  EXPECT_EQ(reply.status, 503);
  EXPECT_NE(reply.body.find("\"unavailable\""), std::string::npos);
  EXPECT_TRUE(std::ranges::none_of(reply.headers, [](const auto& header) {
    return header.first == "Retry-After";
  })) << "the edge adds it";
}

TEST_F(PressureRefusal, FramesAreRefusedLastAndSayWhy) {
  Press({.queue = 0.95});
  EXPECT_EQ(Check("/frames").refusal.status, 503);
  EXPECT_NE(Check("/frames").refusal.body.find("queue"), std::string::npos);
  EXPECT_EQ(Check("/frames", {{"sec-fetch-site", "same-origin"}}).refusal.status, 503);
  Press({.storage_low = true});
  EXPECT_NE(Check("/frames").refusal.body.find("storage-low"), std::string::npos);
  EXPECT_EQ(Check("/page").kind, HeadVerdict::kPass);
}

TEST_F(PressureRefusal, WhatMakesRowsWaitsWhereTheDiskIsNearlyFull) {
  Press({.storage_low = true});
  EXPECT_EQ(Check("/change").kind, HeadVerdict::kPass);
  Press({.storage_low = true, .storage_nearly_full = true});
  for (const char* path : {"/change", "/samples", "/frames"}) {
    const Reply refusal = Check(path, {{"sec-fetch-site", "same-origin"}}).refusal;
    EXPECT_EQ(refusal.status, 503) << path;
    EXPECT_NE(refusal.body.find("storage-low"), std::string::npos) << path;
    EXPECT_TRUE(std::ranges::any_of(refusal.headers, [](const auto& header) {
      return header.first == "Retry-After";
    })) << path;
  }
  EXPECT_EQ(Check("/page").kind, HeadVerdict::kPass);
  EXPECT_EQ(Check("/bulk", {{"sec-fetch-site", "same-origin"}}).kind, HeadVerdict::kPass);
}

TEST_F(PressureRefusal, ARouteSaysHowLongItsAnswerMayTake) {
  EXPECT_EQ(Check("/later").answer_within, 4s);
  EXPECT_EQ(Check("/frames").answer_within, 0s);
}

TEST_F(PressureRefusal, FramesLeaveSomeWorkersToOthers) {
  EXPECT_EQ(Check("/later").lane, Lane::kMost);
  EXPECT_EQ(Check("/frames").lane, Lane::kMost);
  EXPECT_EQ(Check("/samples").lane, Lane::kMost);
  EXPECT_EQ(Check("/page").lane, Lane::kAll);
  EXPECT_EQ(Check("/bulk").lane, Lane::kAll);
}

}  // namespace
}  // namespace stepscope

#include "agent/app/job/free_name.h"

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/support/fake_ingest.h"

namespace stepscope {
namespace {

using test::FakeIngest;
using test::Peer;
using test::ScriptedServer;

std::string NameAt(const std::string& url, const std::string& job = "bert") {
  return FreeJobName({.server = url}, job, SystemClock());
}

// The name where the service answers so.
std::string NameFor(int status, const std::string& body) {
  ScriptedServer server([&](Peer& peer) {
    while (peer.Read()) peer.Reply(status, body);
  });
  return NameAt(server.url());
}

TEST(FreeJobName, IsTheFirstThatNoEndedJobHas) {
  FakeIngest service;
  EXPECT_EQ(NameAt(service.url()), "bert");
  service.End("bert");
  EXPECT_EQ(NameAt(service.url()), "bert-2");
  service.End("bert-2");
  EXPECT_EQ(NameAt(service.url()), "bert-3");
}

// A service that tells an agent's token whether a job has ended, and nothing else of it.
TEST(FreeJobName, NeedsNoMoreThanTheStatusOfAJob) {
  ScriptedServer server([](Peer& peer) {
    while (const auto request = peer.Read()) {
      const bool asks_status = request->head.find("/status ") != std::string::npos;
      const bool ended = request->head.find("/jobs/bert/") != std::string::npos;
      if (!asks_status)
        peer.Reply(403, "{}");
      else
        peer.Reply(ended ? 200 : 404, ended ? R"({"status":"Failed"})" : "{}");
    }
  });
  EXPECT_EQ(NameAt(server.url()), "bert-2");
}

TEST(FreeJobName, KeepsItsNumberWhenTheNameIsLong) {
  FakeIngest service;
  const std::string longest(63, 'a');
  service.End(longest);
  std::string second(61, 'a');
  second.append("-2");
  EXPECT_EQ(NameAt(service.url(), longest), second);
}

TEST(FreeJobName, StaysOfAJobThatGoesOnAndWhereNobodyTells) {
  EXPECT_EQ(NameFor(200, R"({"status":"InProgress"})"), "bert");
  EXPECT_EQ(NameFor(200, R"({"status":"Stopping"})"), "bert");
  EXPECT_EQ(NameFor(403, "{}"), "bert");
  EXPECT_EQ(NameFor(500, "<html>"), "bert");
  for (const char* body : {"", "[]", "{", R"({"status":7})", R"({"status":"Melted"})"})
    EXPECT_EQ(NameFor(200, body), "bert") << body;
  EXPECT_EQ(NameAt("http://127.0.0.1:1"), "bert");
  EXPECT_EQ(NameAt("no url"), "bert");
}

TEST(FreeJobName, EndsItsSearch) {
  EXPECT_EQ(NameFor(200, R"({"status":"Completed"})"), "bert");  // of every name
  const SystemClock clock;
  const SteadyTime before = clock.Steady();
  ScriptedServer silent([](Peer& peer) {
    while (peer.Read()) {
    }
  });
  EXPECT_EQ(NameAt(silent.url()), "bert");
  EXPECT_LT(clock.Steady() - before, 5s);
}

}  // namespace
}  // namespace stepscope

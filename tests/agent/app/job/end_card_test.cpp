#include "agent/app/job/end_card.h"

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/support/scripted_server.h"

namespace stepscope {
namespace {

using test::Peer;
using test::ScriptedServer;

constexpr const char* kRunning = R"({"status": "InProgress"})";
constexpr const char* kJudged = R"({"status": "Completed", "profiler_rule_evaluation_statuses": [
    {"rule_evaluation_status": "NoIssuesFound"}]})";

struct Asked {
  Result<std::string> card = std::string();
  int pauses = 0;
};

// Asks a service that describes the job as running so many times, then as `last`.
Asked AskOf(int running, const std::string& last, const std::string& card, int status = 200) {
  int left = running;
  ScriptedServer server([&](Peer& peer) {
    while (const auto request = peer.Read()) {
      const bool wants_card = request->head.starts_with("GET /api/v1/jobs/bert/card ");
      peer.Reply(status, wants_card ? card : left-- > 0 ? kRunning : last);
    }
  });
  Asked asked;
  asked.card =
      AskEndCard({.server = server.url()}, "bert", [&](Duration) { return ++asked.pauses < 40; });
  return asked;
}

TEST(EndCard, ComesWhenTheRulesHaveHadTheirLastTurn) {
  const Asked asked = AskOf(2, kJudged, "bert  Completed\n\n63 % was lost.\n");
  ASSERT_TRUE(asked.card.ok()) << asked.card.error().message;
  EXPECT_EQ(*asked.card, "bert  Completed\n\n63 % was lost.\n");
  EXPECT_EQ(asked.pauses, 2);
}

TEST(EndCard, ComesAsItIsWhereTheVerdictTakesTooLongOrCannotBeRead) {
  for (const char* text :
       {kRunning, "[]", "no JSON", R"({"status": 7})",
        R"({"status": "Completed", "profiler_rule_evaluation_statuses": [1]})"}) {
    const Asked asked = AskOf(0, text, "bert  InProgress\n");
    ASSERT_TRUE(asked.card.ok()) << text;
    EXPECT_EQ(asked.pauses, 30) << text;
  }
}

TEST(EndCard, IsLinesOfVisibleTextWhateverTheServiceSends) {
  const Asked asked = AskOf(0, kJudged, "\x1b[2Jred\r\x07\n" + std::string(100'000, '\n') + "end");
  ASSERT_TRUE(asked.card.ok());
  EXPECT_EQ(asked.card->find_first_of("\x1b\r\x07"), std::string::npos);
  EXPECT_LE(asked.card->size(), 400u);
}

TEST(EndCard, SaysWhyThereIsNone) {
  EXPECT_EQ(AskOf(0, "", "", 403).card.error().message,
            "the token may not read jobs: one of the role operator may");
  EXPECT_EQ(AskOf(0, "", "", 500).card.error().message, "the service answered HTTP 500");
  EXPECT_FALSE(
      AskEndCard({.server = "http://127.0.0.1:1"}, "bert", [](Duration) { return true; }).ok());
}

}  // namespace
}  // namespace stepscope

#include "server/report/page/rule_answer.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TransitionRow To(std::int64_t version, const char* status, std::int64_t at_us, const char* detail) {
  return {7, version, status, "", detail, at_us};
}

// A rule that was judged anew for a while, and whose last change is of the time of the job's end.
TEST(RuleAnswer, TellsTheDetailsOfTheNewestChangeWhateverItsTime) {
  RuleStateRow state;
  state.config.rule_config_id = 7;
  state.status = RuleStatus::kStopped;
  state.verdict = {{"kind", "clear"}, {"sentence", "of the verdict"}};
  const TransitionRow transitions[] = {To(1, "Stopping", 100, "first"),
                                       To(3, "Stopped", 200, "last"),
                                       To(2, "InProgress", 300, "between")};
  EXPECT_EQ(ToJson(state, transitions)["status_details"], "last");
  EXPECT_EQ(ToJson(state, {})["status_details"], "of the verdict");
}

TEST(RuleAnswer, TellsTheNewestSentenceOfWhatIsStillJudged) {
  RuleStateRow state;
  state.config.rule_config_id = 7;
  state.status = RuleStatus::kIssuesFound;
  state.verdict = {{"kind", "finding"}, {"sentence", "newest"}};
  const TransitionRow transitions[] = {To(1, "IssuesFound", 100, "first")};
  EXPECT_EQ(ToJson(state, transitions)["status_details"], "newest");
}

}  // namespace
}  // namespace stepscope

// The pages of docs/rules are made from the catalog.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/rules/pages/footprint.h"
#include "tests/rules/pages/pages.h"

namespace stepscope::scenarios {
namespace {

const std::filesystem::path kPages = std::filesystem::path(STEPSCOPE_SOURCE_DIR) / "docs/rules";

TEST(RulePages, AreThoseOfTheCatalog) {
  const auto pages = RulePages();
  EXPECT_EQ(pages.size(), 2 * (Catalog().size() + 1) +
                              1);  // a page and a picture each, with Custom, and the list
  for (const auto& [name, content] : pages) {
    std::ifstream file(kPages / name, std::ios::binary);
    std::ostringstream stored;
    stored << file.rdbuf();
    EXPECT_TRUE(stored.str() == content)
        << name << " is not up to date: run build/dev/tests/rule_pages docs/rules";
  }
  for (const auto& file : std::filesystem::directory_iterator(kPages)) {
    EXPECT_TRUE(pages.contains(file.path().filename().string())) << file.path();
  }
}

// A picture of a job in which the rule does not fire shows nothing.
TEST(RulePages, ShowJobsInWhichTheRuleFires) {
  auto footprints = HostFootprints();
  for (Footprint& each : StepFootprints()) footprints.push_back(std::move(each));
  for (const Footprint& each : footprints) {
    const RuleType& rule = *FindRule(each.rule);
    const bool reports = rule.fires.starts_with("Never");
    const auto outcome = Judge(each.rule, each.job, each.parameters);
    EXPECT_EQ(outcome.verdict.kind, reports ? VerdictKind::kClear : VerdictKind::kFinding)
        << each.rule << ": " << outcome.verdict.sentence;
  }
}

}  // namespace
}  // namespace stepscope::scenarios

// The page docs/metrics.md is made from the table of metrics.

#include "tests/core/model/page/metrics_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "core/model/metric.h"

namespace stepscope {
namespace {

TEST(MetricsPage, IsThatOfTheTable) {
  std::ifstream file(STEPSCOPE_SOURCE_DIR "/docs/metrics.md", std::ios::binary);
  std::ostringstream stored;
  stored << file.rdbuf();
  EXPECT_TRUE(stored.str() == MetricsPage()) << "run build/dev/tests/metrics_page docs/metrics.md";
}

TEST(MetricsPage, NamesASourceForEachMetricAndHasEachOnce) {
  const std::string page = MetricsPage();
  for (const Metric& metric : Metrics()) {
    EXPECT_FALSE(SourceOf(metric.name).empty()) << metric.name;
    const std::string row = "\n| `" + std::string(metric.name) + "` | ";
    const std::size_t at = page.find(row);
    ASSERT_NE(at, std::string::npos) << metric.name;
    EXPECT_EQ(page.find(row, at + 1), std::string::npos) << metric.name;
    EXPECT_EQ(metric.help.find('|'), std::string_view::npos) << "it would break the row";
  }
  EXPECT_EQ(SourceOf("memory_used_bytes"), "`/proc/meminfo`");
  EXPECT_EQ(SourceOf("memory_oom_kills"), "`/proc/vmstat`");
  EXPECT_EQ(SourceOf("moon_phase"), "");
}

}  // namespace
}  // namespace stepscope

#include "server/api/jobs/fact_words.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(FactWords, AreWhatPeopleSay) {
  EXPECT_EQ(FactWords("cpu_quota", 3.5), "3.5");
  EXPECT_EQ(FactWords("interval_ms", 500), "500 ms");
  EXPECT_EQ(FactWords("memory_bytes", 540'000'000'000), "503 GiB");
  EXPECT_EQ(FactWords("pin_memory", true), "yes");
  EXPECT_EQ(FactWords("gpus", Json::array()), "none");
  EXPECT_EQ(FactWords("gpus", Json::array({Json::object(), Json::object()})), "2 x without a name");
  EXPECT_EQ(FactWords("allows", Json::array({"windows", "stop"})), "windows, stop");
}

TEST(FactWords, CountEqualDevicesAndTellDifferentOnes) {
  const Json gpus = Json::array({{{"device", "gpu0"}, {"name", "A100"}, {"uuid", "GPU-1"}},
                                 {{"device", "gpu1"}, {"name", "A100"}, {"uuid", "GPU-2"}},
                                 {{"device", "gpu2"}, {"name", "T4"}, {"mig", false}}});
  EXPECT_EQ(FactWords("gpus", gpus), "2 x A100; T4, mig no");
}

TEST(PutFacts, TagsAreFactsAndProcessesAreNot) {
  Facts facts;
  PutFacts("job: ", {{"tags", {{"team", "vision"}}}, {"pid", 7}, {"interval_ms", 250}}, facts);
  EXPECT_EQ(facts, (Facts{{"tag: team", "vision"}, {"job: interval", "250 ms"}}));
}

}  // namespace
}  // namespace stepscope

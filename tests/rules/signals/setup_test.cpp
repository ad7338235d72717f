#include "rules/signals/setup.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

JobFacts Facts(int ranks, std::optional<std::int64_t> batch) {
  JobFacts facts;
  facts.nodes = {
      {.name = "a", .cores = 64, .gpus = 4, .cores_allowed = 16, .gpu_model = "NVIDIA H100"}};
  for (int rank = 0; rank < ranks; ++rank) {
    facts.ranks.push_back({.rank = rank, .node = "a", .batch_size = batch});
  }
  return facts;
}

TEST(Setup, SaysWhatIsKnown) {
  EXPECT_EQ(SetupOf(Facts(4, 32)), "4 ranks, 4 GPUs (NVIDIA H100), 16 cores, batches of 32");
  EXPECT_EQ(SetupOf(Facts(1, std::nullopt)), "1 rank, 4 GPUs (NVIDIA H100), 16 cores");
  EXPECT_EQ(SetupOf(Facts(0, 32)), "");
  JobFacts facts = Facts(2, 32);
  facts.nodes.push_back({.name = "b", .cores = 8});
  facts.ranks[1].batch_size = 64;
  EXPECT_EQ(SetupOf(facts),
            "2 ranks on 2 nodes, 4 GPUs (NVIDIA H100), 24 cores, batches of 32 and 64");
}

}  // namespace
}  // namespace stepscope

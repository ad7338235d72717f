#include "server/report/page/rank_remarks.h"

#include <gtest/gtest.h>

#include "core/base/text.h"

namespace stepscope {
namespace {

RankRow Saying(int rank, const std::string& clock) {
  RankRow row;
  row.rank = rank;
  row.facts = {{"gpu_clock", clock}};
  return row;
}

TEST(RankRemarks, RanksThatSayTheSameShareASentenceWhicheverPieceTheyCameIn) {
  RankRemarks remarks;
  const RankRow first[] = {Saying(0, "off: too dear"), Saying(1, "on")};
  const RankRow second[] = {Saying(2, "off: too dear")};
  remarks.Add(first);
  remarks.Add(second);
  const std::vector<std::string> wanted = {"Ranks 0, 2: the GPU's own clock: off: too dear.",
                                           "Rank 1: the GPU's own clock: on."};
  EXPECT_EQ(remarks.Sentences(), wanted);
}

TEST(RankRemarks, AreBoundedWhateverRanksSay) {
  RankRemarks remarks;
  for (int rank = 0; rank < 1'000; ++rank) {
    const RankRow row[] = {Saying(rank, Format("reason {}", rank))};
    remarks.Add(row);
  }
  EXPECT_EQ(remarks.Sentences().size(), RankRemarks::kMost);
}

}  // namespace
}  // namespace stepscope

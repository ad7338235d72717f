// Summaries of blocks of steps: any bytes give an error, or a summary within its bounds that is the
// same when it is written and read again.

#include "server/store/steps/block_summary.h"
#include "server/store/steps/step_blocks.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  const Result<BlockSummary> summary = DecodeSummary(ToBytes(data, size));
  if (!summary) return 0;
  const auto steps = static_cast<std::size_t>(CountSteps(*summary));
  Require(steps >= 1 && steps <= kStepsPerBlock, "a block has its steps");
  Require(summary->walls.size() <= steps, "no bin is empty");
  Require(summary->walls.back().bin < kDurationBins, "a bin is one of all");
  const Result<BlockSummary> again = DecodeSummary(EncodeSummary(*summary));
  Require(again.ok() && *again == *summary, "a summary reads again as the same");
  return 0;
}

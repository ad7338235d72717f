#include "server/compact/save_blocks.h"

#include <map>

#include "tests/server/compact/compact_fixture.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBlocksBegin = 1'795'205'400'000'000;  // begin of a block window

class SaveBlocksTest : public CompactTest {
 protected:
  SaveBlocksTest() : frames_(*connection_) {}

  // Makes three ticks in each of twelve block windows, of two metrics with three devices each.
  static TickTable TicksFrom(std::int64_t from_us) {
    TickTable ticks;
    for (std::int64_t i = 0; i < 36; ++i) {
      ticks.at_us.push_back(from_us + i / 3 * kBlockWindowUs + i % 3 * 20'000'000);
    }
    for (const char* metric : {"user.a", "user.b"}) {
      for (const char* device : {"0", "1", "2"}) {
        ticks.series.push_back({metric, device});
        ticks.columns.push_back({0, ticks.at_us, {}});
      }
    }
    return ticks;
  }
  Merged Save(const TickTable& ticks, std::size_t most_stored_bytes) {
    Merged merged;
    const auto save = [&](std::vector<StoredBlock> blocks) -> Status {
      const Result<Merged> done =
          MergeAndSave(*connection_, *connection_, frames_.job_id(), frames_.node_id(),
                       std::move(blocks), most_stored_bytes);
      if (!done) return done.error();
      merged = *done;
      return {};
    };
    const Status saved = CutBlocks(ticks, false, 1'000, save);
    EXPECT_TRUE(saved) << saved.error().message;
    return merged;
  }
  // The rows of blocks and rollups, by their keys.
  std::string Stored() {
    const auto rows = connection_->Query(
        "select coalesce(string_agg(row, ';' order by row), '') from ("
        "select concat_ws(' ', window_us, metric, rows, encode(payload, 'hex')) as row from blocks "
        "union all select concat_ws(' ', bin_us, chunk_us, metric, encode(payload, 'hex')) "
        "from rollups) as found");
    return rows->Text(0, 0);
  }

  JobFrames frames_;
};

TEST_F(SaveBlocksTest, WhatIsMeasuredIsWhatIsStored) {
  const std::vector<BlockKey> keys{
      {kBlocksBegin, "user.a"}, {kBlocksBegin, "user.b"}, {kBlocksBegin, "user.c"}};
  const auto measure = [&] {
    return MeasureBlocks(*connection_, frames_.job_id(), frames_.node_id(), keys).value();
  };
  EXPECT_EQ(measure(), 0u);
  Save(TicksFrom(kBlocksBegin), SIZE_MAX);
  EXPECT_EQ(measure(), 2u * 4u * (200u + 3u * 9u)) << "three devices and the time, three rows";
  const std::vector<RollupKey> rollups{{60'000'000, "user.a", ChunkOf(kBlocksBegin, 60'000'000)}};
  EXPECT_GT(MeasureRollups(*connection_, frames_.job_id(), frames_.node_id(), rollups).value(),
            13u * 200u);
}

// Late samples of stored windows: in one batch, and block by block.
TEST_F(SaveBlocksTest, LotsTogetherAreWhatOneLotIs) {
  Save(TicksFrom(kBlocksBegin), SIZE_MAX);
  const std::string before = Stored();
  Save(TicksFrom(kBlocksBegin + 5'000'000), SIZE_MAX);
  const std::string expected = Stored();
  EXPECT_NE(expected, before);
  ASSERT_TRUE(connection_->Execute("truncate blocks, rollups, job_rollups"));
  Save(TicksFrom(kBlocksBegin), 1);
  EXPECT_EQ(Stored(), before);
  Save(TicksFrom(kBlocksBegin + 5'000'000), 1);
  EXPECT_EQ(Stored(), expected);
}

TEST_F(SaveBlocksTest, WhatIsCountedIsAddedUp) {
  EXPECT_EQ(Save(TicksFrom(kBlocksBegin), 1).joined, 0u);
  EXPECT_EQ(Save(TicksFrom(kBlocksBegin), 1).joined, 36u);
  EXPECT_EQ(Save(TicksFrom(kBlocksBegin), SIZE_MAX).joined, 36u);
}

}  // namespace
}  // namespace stepscope

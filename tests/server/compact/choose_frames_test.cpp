#include "server/compact/choose_frames.h"

#include "server/store/ticks/blocks.h"
#include "tests/server/compact/compact_fixture.h"

namespace stepscope {
namespace {

constexpr std::int64_t kChooseBegin = 1'795'205'400'000'000;  // begin of a block window

class ChooseFramesTest : public CompactTest {
 protected:
  ChooseFramesTest() : job_(*connection_) {}

  // A schema of so many columns; those of one seed are the same in another order.
  std::int64_t StoreSchema(std::size_t columns, std::size_t rotated, bool metrics = false) {
    Schema schema{-1, {{"at_us", ""}}, {}};
    for (std::size_t i = 0; i < columns; ++i) {
      const std::string number = std::to_string((i + rotated) % columns);
      schema.columns.push_back(metrics ? SeriesName{"user.m" + number, ""}
                                       : SeriesName{"user.a", number});
    }
    const auto hash = static_cast<std::int64_t>(HashSchema(schema));
    const std::string content = EncodeSchema(schema);
    const NewSchema row{job_.job_id(), hash, content};
    EXPECT_TRUE(connection_->QueryByKey(InsertSchemas(std::span(&row, 1))));
    return hash;
  }
  // Frames of so many rows: each within so many windows of its own, or all within one.
  std::vector<FrameKey> KeysOf(const std::vector<std::int64_t>& hashes, std::int64_t rows = 1,
                               std::int64_t windows = 0) {
    std::vector<FrameKey> keys;
    for (const std::int64_t hash : hashes) {
      FrameKey key{.rows = rows, .schema_hash = hash, .session = {}};
      key.from_us = kChooseBegin + std::ssize(keys) * windows * kBlockWindowUs;
      key.to_us = key.from_us + std::max<std::int64_t>(windows - 1, 0) * kBlockWindowUs;
      keys.push_back(key);
    }
    return keys;
  }
  ChosenFrames Choose(const std::vector<FrameKey>& keys) {
    Result<ChosenFrames> chosen = ChooseNodeFrames(*connection_, job_.job_id(), keys);
    EXPECT_TRUE(chosen) << chosen.error().message;
    return chosen ? std::move(*chosen) : ChosenFrames{};
  }

  JobFrames job_;
};

TEST_F(ChooseFramesTest, OfOneSchemaAreAllChosenThatHaveRoom) {
  const std::int64_t hash = StoreSchema(200, 0);
  EXPECT_EQ(Choose(KeysOf(std::vector(150, hash), 4)).count, 150u);
  EXPECT_EQ(Choose(KeysOf(std::vector(5'000, hash), 1)).count, 4'096u);
  EXPECT_EQ(Choose(KeysOf({hash}, 16'384)).count, 1u);
  EXPECT_EQ(Choose(KeysOf({12345, 12346})).count, 2u) << "whose schemas are gone fail later";
}

// Frames that only differ in the order of their columns each have a schema of their own.
TEST_F(ChooseFramesTest, SchemasAreLoadedOfFramesThatComeIntoQuestion) {
  std::vector<std::int64_t> hashes;
  for (std::size_t i = 0; i < 90; ++i) hashes.push_back(StoreSchema(20'000, i));
  const ChosenFrames chosen = Choose(KeysOf(hashes));
  EXPECT_EQ(chosen.count, 52u) << "a million columns";
  EXPECT_LE(chosen.schemas.size(), 52u + 16u);
  for (std::size_t i = 0; i < chosen.count; ++i) EXPECT_TRUE(chosen.schemas.contains(hashes[i]));
}

TEST_F(ChooseFramesTest, FramesOfSparseTicksAreFew) {
  const std::int64_t hash = StoreSchema(500, 0, true);
  EXPECT_EQ(Choose(KeysOf(std::vector(100, hash), 4)).count, 100u);
  EXPECT_EQ(Choose(KeysOf(std::vector(100, hash), 100, 100)).count, 3u)
      << "200,000 series of blocks";
  EXPECT_EQ(Choose(KeysOf({hash, hash}, 600, 600)).count, 1u);
}

}  // namespace
}  // namespace stepscope

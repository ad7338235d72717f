#include "server/store/steps/step_pieces.h"

#include <gtest/gtest.h>

#include <thread>

#include "server/compact/compact_steps.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

constexpr std::int64_t kPiecesBegin = 1'795'205'400'000'000;

using NumberedSteps = std::vector<std::pair<std::int64_t, std::int64_t>>;  // number, start_us

class StepPiecesTest : public ::testing::Test {
 protected:
  StepPiecesTest() : connection_(database_.Connect()), frames_(*connection_) {}

  void Store(int rank, std::int64_t first, std::int64_t count) {
    NumberedSteps steps;
    for (std::int64_t i = first; i < first + count; ++i)
      steps.push_back({i, kPiecesBegin + i * 1'000});
    frames_.StoreSteps(rank, steps);
  }
  void Compact(int rank) {
    const auto done = CompactSteps(*connection_, frames_.job_id(), {rank});
    EXPECT_TRUE(done) << done.error().message;
  }
  // The content of the pieces of some ranks.
  struct Told {
    std::int64_t summaries = 0;
    std::map<int, std::int64_t> steps;
    std::vector<int> ranks;  // in the order in which they came
    bool in_order = true;
  };
  Told Read(Connection& connection, const std::vector<int>& ranks, std::int64_t most_read) {
    Told told;
    std::map<int, std::int64_t> next;
    const Result<Transaction> snapshot = Transaction::Snapshot(connection);
    EXPECT_TRUE(snapshot);
    const auto add = [&](int rank, std::int64_t number, std::int64_t count) {
      told.steps[rank] += count;
      told.in_order = told.in_order && number >= next[rank];
      next[rank] = number + count;
      if (told.ranks.empty() || told.ranks.back() != rank) told.ranks.push_back(rank);
    };
    const Status read =
        ReadStepPieces(connection, frames_.job_id(), ranks, most_read, [&](const StepPiece& piece) {
          if (piece.block) {
            ++told.summaries;
            for (const auto& point : piece.block->points) add(piece.rank, point.step, point.count);
          }
          for (const Step& step : piece.steps) add(piece.rank, step.number, 1);
        });
    EXPECT_TRUE(read) << read.error().message;
    return told;
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
  JobFrames frames_;
};

TEST_F(StepPiecesTest, RanksComeInTheirOrder) {
  for (int rank = 0; rank < 4; ++rank) Store(rank, 0, 5'000 + rank);
  Compact(1);
  Compact(2);
  const Told told = Read(*connection_, {3, 1, 2}, 0);
  EXPECT_EQ(told.ranks, (std::vector{3, 1, 2}));
  EXPECT_EQ(told.steps, (std::map<int, std::int64_t>{{1, 5'001}, {2, 5'002}, {3, 5'003}}));
  EXPECT_EQ(told.summaries, 4);
  EXPECT_TRUE(told.in_order);
  EXPECT_EQ(Read(*connection_, {1}, 5'001).summaries, 0) << "few are read";
}

TEST_F(StepPiecesTest, AStepThatIsInABlockAndInAFrameCountsOnce) {
  Store(0, 0, 9'000);
  Compact(0);
  Store(0, 4'000, 200);
  const Told told = Read(*connection_, {0}, 0);
  EXPECT_EQ(told.steps.at(0), 9'000);
  EXPECT_EQ(told.summaries, 1) << "of the block in which the frame does not lie";
}

TEST_F(StepPiecesTest, MoreThanIsReadAtOnceComesInPages) {
  for (std::int64_t first = 0; first < 210'000; first += 15'000) Store(0, first, 15'000);
  NumberedSteps ends{{210'000, kPiecesBegin}, {210'001, kPiecesBegin + 210'001'000}};
  frames_.StoreSteps(0, ends);  // over all ranks
  const Told told = Read(*connection_, {0}, 0);
  EXPECT_EQ(told.steps.at(0), 210'002);
}

TEST_F(StepPiecesTest, WhoReadsWhileItCompactsSeesEachStepOnce) {
  constexpr std::int64_t kSteps = 12'000;
  std::jthread reader([&](const std::stop_token& stop) {
    const auto own = database_.Connect();
    std::int64_t seen = 0;
    while (!stop.stop_requested()) {
      Told told = Read(*own, {0}, 0);
      ASSERT_TRUE(told.in_order);
      ASSERT_GE(told.steps[0], seen);
      ASSERT_EQ(told.steps[0] % 20, 0) << "a frame is there or not";
      seen = told.steps[0];
    }
  });
  for (std::int64_t first = 0; first < kSteps; first += 20) {
    Store(0, first, 20);
    Compact(0);
  }
  reader.request_stop();
  reader.join();
  const Told told = Read(*connection_, {0}, 0);
  EXPECT_EQ(told.steps.at(0), kSteps);
  EXPECT_EQ(told.summaries, 3);
}

}  // namespace
}  // namespace stepscope

#include "server/trace/compare/aligned_ranks.h"

#include <gtest/gtest.h>

#include <list>

#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// `count` collectives, one each 100 ms, to which a rank comes `late_ns` after the first; all end
// 50 ms after the first has come. The rank's clock is ahead by `offset_ns`.
RankEvents Rank(int rank, std::int64_t late_ns, std::int64_t offset_ns, std::int64_t count = 10) {
  RankEvents events{rank, {}};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at_ns = i * 100 * kMs + offset_ns;
    // Ends differ by up to 4 us.
    events.events.push_back(
        {"allreduce", "0", 0, i, at_ns + late_ns, at_ns + 50 * kMs + (rank * i % 3) * 2'000});
  }
  return events;
}

TEST(AlignedRanks, WhoComesLastIsFoundWhateverTheClocksSay) {
  const AlignedRanks aligned =
      AlignRanks({Rank(0, 0, 0), Rank(1, 30 * kMs, -7'000 * kMs), Rank(2, 2 * kMs, 900 * kMs)});
  ASSERT_EQ(aligned.ranks.size(), 3u);
  EXPECT_NEAR(double(aligned.ranks[1].offset_ns), -7e9, 5'000);
  EXPECT_NEAR(double(aligned.ranks[2].offset_ns), 9e8, 5'000);
  EXPECT_LE(aligned.ranks[1].residual_ns, 4'000);
  EXPECT_EQ(aligned.ranks[1].last, 10u);
  EXPECT_NEAR(double(aligned.ranks[1].late_ns), 10 * 28e6, 1e5);
  EXPECT_EQ(aligned.ranks[0].last + aligned.ranks[2].last, 0u);
  EXPECT_NEAR(double(aligned.ranks[0].waited_ns), 10 * 30e6, 1e5);
  ASSERT_EQ(aligned.collectives.size(), 10u);
  EXPECT_EQ(aligned.collectives[3].last_rank, 1);
  EXPECT_NEAR(double(aligned.collectives[3].wire_ns), 20e6, 5'000);
  EXPECT_NEAR(double(aligned.collectives[3].arrivals_ns[2]), 2e6, 10'000);
}

TEST(AlignedRanks, NobodyIsLastByLessThanTheClocksAreKnown) {
  const AlignedRanks aligned = AlignRanks({Rank(0, 0, 0), Rank(1, 6'000, 5 * kMs)});
  EXPECT_EQ(aligned.ranks[1].last, 0u);
  EXPECT_EQ(aligned.collectives[0].last_rank, -1);
  EXPECT_EQ(aligned.collectives[0].late_ns, 0);
}

TEST(AlignedRanks, RanksThatShareLittleAreLeftOut) {
  RankEvents other = Rank(3, 0, 0);
  for (CollectiveEvent& event : other.events) event.group = "1";
  const AlignedRanks aligned = AlignRanks({Rank(0, 0, 0), Rank(1, kMs, 0, 2), other});
  EXPECT_EQ(aligned.ranks.size(), 1u);
  EXPECT_TRUE(aligned.collectives.empty());
  EXPECT_TRUE(AlignRanks({}).ranks.empty());
}

// Rank 1 of this training was made late.
TEST(AlignedRanks, ARealStragglerIsNamed) {
  const auto folder = RealTraces("torch-cpu");
  std::vector<RankEvents> ranks;
  std::list<Trace> traces;  // their names are those of the events
  for (int rank = 0; rank < 2; ++rank) {
    const auto file = folder / Format("torch2.6-cpu-ddp-gloo-rank{}.pt.trace.json.gz", rank);
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "there are no real traces here";
    traces.push_back(Converted(FileText(file)));
    ranks.push_back({rank, MakeCollectiveEvents(TraceLinks(traces.back()))});
  }
  const AlignedRanks aligned = AlignRanks(ranks);
  ASSERT_EQ(aligned.ranks.size(), 2u) << ranks[0].events.size() << " " << ranks[1].events.size();
  EXPECT_GT(aligned.ranks[1].last, aligned.ranks[0].last);
  EXPECT_GT(aligned.ranks[1].late_ns, aligned.ranks[0].late_ns);
  EXPECT_LT(aligned.ranks[1].residual_ns, kMs);
}

TEST(CollectiveEvents, ComeOutAsTheyWentIn) {
  std::vector<CollectiveEvent> events = Rank(0, 0, 5, 2).events;
  for (CollectiveEvent& event : events) {  // since the epoch
    event.start_ns += 1'795'205'614'000'000'000;
    event.end_ns += 1'795'205'614'000'000'000;
  }
  CollectiveNames names;
  const auto read = ReadCollectiveEvents(Dump(ToJson(events)), 100, names);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[1].step, 1);
  EXPECT_EQ((*read)[1].end_ns, events[1].end_ns);
  EXPECT_EQ((*read)[1].name, "allreduce");
  EXPECT_EQ((*read)[1].group, "0");
  EXPECT_EQ(names.size(), 2u) << "each name is kept once";
  EXPECT_EQ(ReadCollectiveEvents(Dump(ToJson(events)), 1, names)->size(), 1u);
  for (const char* wrong : {"", "[]", "{\"events\": 3}", "{\"events\": [[1], 7, {}]}"}) {
    const auto none = ReadCollectiveEvents(wrong, 100, names);
    EXPECT_TRUE(!none.ok() || none->empty()) << wrong;
  }
}

TEST(CollectiveEvents, OfAnOlderVersionHaveTheirNamesInEachRow) {
  CollectiveNames names;
  const auto read =
      ReadCollectiveEvents(R"({"events": [["allreduce", "tp", 0, 7, 100, 200]]})", 100, names);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ((*read)[0].name, "allreduce");
  EXPECT_EQ((*read)[0].group, "tp");
  EXPECT_EQ((*read)[0].step, 7);
}

// Whoever writes a trace may write names of 4 KB into it.
TEST(CollectiveEvents, LongNamesAreCutAndBoundedInSum) {
  std::vector<MadeEvent> made;
  for (int i = 0; i < 8'000; ++i) {
    made.push_back({"kernel", Format("nccl{:05}", i) + std::string(4'000, 'x'), "0", "7",
                    100.0 + i * 10, 5, "\"device\": 0"});
  }
  const Trace trace = Converted(TraceText(made));
  const auto events = MakeCollectiveEvents(TraceLinks(trace));
  ASSERT_EQ(events.size(), 8'000u);
  EXPECT_EQ(events[7].name, "nccl00007" + std::string(191, 'x'));
  EXPECT_EQ(events.back().name, "(another name)");
  EXPECT_LT(Dump(ToJson(events)).size(), 2u * 1024 * 1024);
}

}  // namespace
}  // namespace stepscope

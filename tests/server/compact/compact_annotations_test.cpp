#include "server/compact/compact_annotations.h"

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "core/base/text.h"
#include "core/model/span_bins.h"
#include "server/compact/compactor.h"
#include "server/store/annotations/annotation_blocks.h"
#include "server/store/annotations/annotations.h"
#include "tests/server/compact/compact_fixture.h"

namespace stepscope {
namespace {

constexpr std::int64_t kAnnotationsBegin = 1'795'205'400'000'000;  // begin of a block window
constexpr std::int64_t kSecond = 1'000'000, kWindow = 600 * kSecond;

class CompactAnnotationsTest : public CompactTest {
 protected:
  Compacted Compact(int rank = 0) {
    const Result<Compacted> done = CompactAnnotations(*connection_, job_.job_id(), {rank});
    EXPECT_TRUE(done) << done.error().message;
    return done ? *done : Compacted{};
  }
  // The rows of a rank's statistics, each in one line.
  std::vector<std::string> Read(int rank = 0) {
    const auto ranks = ReadAnnotations(*connection_, job_.job_id(), std::span(&rank, 1));
    EXPECT_TRUE(ranks) << ranks.error().message;
    std::vector<std::string> lines;
    if (!ranks || !ranks->contains(rank)) return lines;
    for (const AnnotationRow& row : ranks->at(rank)) {
      lines.push_back(Format("{}: {} times, {} ns, {} to {}", row.name, row.count, row.sum_ns,
                             row.min_ns, row.max_ns));
    }
    return lines;
  }

  JobFrames job_{*connection_};
};

TEST_F(CompactAnnotationsTest, ReadersSeeTheSameBeforeAndAfter) {
  for (std::int64_t push = 0; push < 300; ++push) {
    job_.StoreAnnotations(0, {{"load", kAnnotationsBegin + push * 4 * kSecond, 100 + push},
                              {"save", kAnnotationsBegin + push * 4 * kSecond, 50}});
  }
  job_.StoreAnnotations(1, {{"load", kAnnotationsBegin, 7}});
  const std::vector<std::string> expected = {"load: 300 times, 74850 ns, 100 to 399",
                                             "save: 300 times, 15000 ns, 50 to 50"};
  EXPECT_EQ(Read(), expected);
  EXPECT_EQ(Compact().frames, 300u);
  EXPECT_EQ(Read(), expected);
  EXPECT_EQ(Count("annotation_blocks"), 2) << "20 minutes";
  EXPECT_EQ(Ask("sum(rows)::bigint from annotation_blocks"), 4);
  EXPECT_EQ(Count("frames"), 1) << "of the other rank";
  EXPECT_EQ(Read(1), std::vector<std::string>{"load: 1 times, 7 ns, 7 to 7"});
}

TEST_F(CompactAnnotationsTest, AllBlocksOfALongJobAreSummed) {
  for (const int rank : {0, 1}) {
    AnnotationWindows windows;
    for (std::int64_t window = 0; window < 800; ++window) {
      const std::int64_t at_us = kAnnotationsBegin + window * kWindow;
      windows[at_us]["load"][0] = {at_us, at_us, 1, 7, 7, 7};
    }
    ASSERT_TRUE(InsertAnnotationBlocks(*connection_, job_.job_id(), rank, windows));
  }
  const std::vector<int> ranks = {0, 1};
  const auto sums = SumAnnotationBlocks(*connection_, job_.job_id(), ranks);
  ASSERT_TRUE(sums) << sums.error().message;
  EXPECT_EQ(SumOf(sums->at(0).at("load")).count, 800);
  EXPECT_EQ(SumOf(sums->at(1).at("load")).sum_ns, 800 * 7);
}

TEST_F(CompactAnnotationsTest, LateOnesAreMergedIntoTheirWindow) {
  job_.StoreAnnotations(0,
                        {{"load", kAnnotationsBegin, 5}, {"load", kAnnotationsBegin + kWindow, 6}});
  Compact();
  job_.StoreAnnotations(
      0, {{"load", kAnnotationsBegin + kSecond, 1}, {"save", kAnnotationsBegin + kSecond, 2}});
  EXPECT_EQ(Compact().blocks, 1u);
  EXPECT_EQ(Count("annotation_blocks"), 2);
  EXPECT_EQ(Read(), (std::vector<std::string>{"load: 3 times, 12 ns, 1 to 6",
                                              "save: 1 times, 2 ns, 2 to 2"}));
  EXPECT_EQ(
      Ask(Format("to_us - from_us from annotation_blocks where window_us = {}", kAnnotationsBegin)),
      2 * kSecond);
}

TEST_F(CompactAnnotationsTest, NamesThatAWindowHasNoRoomForAreCounted) {
  for (int push = 0; push < 2; ++push) {
    std::vector<JobFrames::Annotation> rows;
    for (int name = 0; name < 3'000; ++name) {
      rows.push_back({Format("{}-{}", push, name), kAnnotationsBegin, 1});
    }
    job_.StoreAnnotations(0, rows);
    EXPECT_EQ(Compact().rows_left_out, push * (6'000 - kMostAnnotationNames));
  }
  EXPECT_EQ(Read().size(), kMostAnnotationNames);
}

TEST_F(CompactAnnotationsTest, WhoReadsWhileItCompactsSeesEachOnce) {
  constexpr std::int64_t kPushes = 300;
  std::atomic<std::int64_t> stored = 0;
  std::atomic<int> reads = 0;
  std::jthread reader([&](const std::stop_token& stop) {
    const auto own = database_.Connect();
    while (!stop.stop_requested()) {
      const std::int64_t least = stored;
      const Result<Transaction> snapshot = Transaction::Snapshot(*own);
      const auto ranks = ReadAnnotations(*own, job_.job_id(), std::vector{0});
      ASSERT_TRUE(ranks) << ranks.error().message;
      const std::int64_t seen = ranks->empty() ? 0 : ranks->at(0).front().count;
      ASSERT_GE(seen, least);
      ASSERT_LE(seen, stored + 1);
      ++reads;
    }
  });
  for (std::int64_t push = 0; push < kPushes; ++push) {
    job_.StoreAnnotations(0, {{"load", kAnnotationsBegin + push * 10 * kSecond, 1}});
    ++stored;
    Compact();
  }
  reader.request_stop();
  reader.join();
  EXPECT_GT(reads, 10);
  EXPECT_EQ(Read(), std::vector<std::string>{"load: 300 times, 300 ns, 1 to 1"});
}

// Two that begin with one window: the second finds the frames gone, or the block there.
TEST_F(CompactAnnotationsTest, TwoCompactorsLoseAndDoubleNothing) {
  std::atomic<bool> done = false;
  const auto work = [&] {
    const auto own = database_.Connect();
    while (!done) (void)CompactAnnotations(*own, job_.job_id(), {0});
  };
  {
    std::jthread one(work), other(work);
    for (std::int64_t push = 0; push < 300; ++push) {
      job_.StoreAnnotations(0, {{"load", kAnnotationsBegin + push * kWindow / 3, 1}});
    }
    done = true;
  }
  Compact();
  EXPECT_EQ(Count("frames"), 0);
  EXPECT_EQ(Read(), std::vector<std::string>{"load: 300 times, 300 ns, 1 to 1"});
}

TEST_F(CompactAnnotationsTest, BinsAddUpToWhatTheSpansSay) {
  std::mt19937_64 dice(4);
  std::map<int, std::int64_t> expected;
  for (std::int64_t push = 0; push < 40; ++push) {
    std::vector<JobFrames::Annotation> rows;
    for (int span = 0; span < 50; ++span) {
      const auto ns = static_cast<std::int64_t>(dice() >> (9 + dice() % 55));
      rows.push_back({"load", kAnnotationsBegin + push * 40 * kSecond, ns});
      ++expected[SpanBinOf(ns)];
    }
    job_.StoreAnnotations(0, rows);
    if (push % 7 == 0) Compact();
  }
  const auto bins = [&] {
    return ReadAnnotations(*connection_, job_.job_id(), std::vector{0})->at(0).at(0).bins;
  };
  EXPECT_EQ(bins(), expected);
  Compact();
  EXPECT_EQ(bins(), expected);
  EXPECT_EQ(Count("frames"), 0);
}

TEST_F(CompactAnnotationsTest, AWindowWithTooManyBinsLosesNoSpan) {
  for (int name = 0; name < 200; ++name) {
    std::vector<JobFrames::Annotation> rows;
    for (int bin = 0; bin < 80; ++bin) {
      rows.push_back({Format("name {}", name), kAnnotationsBegin, SpanBinBegin(bin)});
    }
    job_.StoreAnnotations(0, rows);
  }
  EXPECT_EQ(Compact().rows_left_out, 0u);
  EXPECT_LE(Ask("max(rows)::bigint from annotation_blocks"), 16'384);
  const auto ranks = ReadAnnotations(*connection_, job_.job_id(), std::vector{0});
  ASSERT_TRUE(ranks) << ranks.error().message;
  ASSERT_EQ(ranks->at(0).size(), 200u);
  for (const AnnotationRow& row : ranks->at(0)) {
    EXPECT_EQ(row.count, 80) << row.name;
    EXPECT_EQ(row.max_ns, SpanBinBegin(79)) << row.name;
  }
}

TEST_F(CompactAnnotationsTest, RowsOfAgentsWithoutBinsAndWildSumsStayReadable) {
  AnnotationWindows windows;
  windows[kAnnotationsBegin]["old"][kNoBin] = {
      kAnnotationsBegin, kAnnotationsBegin, 5, INT64_MAX, 10, 1'000'000};
  windows[kAnnotationsBegin]["old"][0] = {kAnnotationsBegin, kAnnotationsBegin, INT64_MAX, 9, 1, 9};
  ASSERT_TRUE(InsertAnnotationBlocks(*connection_, job_.job_id(), 0, windows));
  job_.StoreAnnotations(0, {{"old", kAnnotationsBegin, 7}});
  Compact();
  const auto ranks = ReadAnnotations(*connection_, job_.job_id(), std::vector{0});
  ASSERT_TRUE(ranks) << ranks.error().message;
  const AnnotationRow& row = ranks->at(0).at(0);
  EXPECT_EQ(row.count, INT64_MAX);
  EXPECT_EQ(row.sum_ns, INT64_MAX);
  EXPECT_EQ(row.min_ns, 1);
  EXPECT_EQ(row.max_ns, 1'000'000);
  EXPECT_EQ(row.bins, (std::map<int, std::int64_t>{{0, INT64_MAX}}));
}

TEST_F(CompactAnnotationsTest, TheCompactorFindsThemAlsoOfARankWithoutARow) {
  ASSERT_EQ(Count("ranks"), 0);
  job_.StoreAnnotations(0, {{"load", kAnnotationsBegin, 1}});
  const SystemClock clock;
  const Compactor compactor(
      store_, clock, {.every = 20ms, .check_every = 5ms, .find = 5ms, .name = "", .paused = {}});
  EXPECT_TRUE(Eventually([&] { return Count("frames") + Count("compact_tasks") == 0; }));
  EXPECT_EQ(Count("annotation_blocks"), 1);
}

}  // namespace
}  // namespace stepscope

#include "server/trace/replay/replay.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

constexpr StreamWaits kBoth[] = {StreamWaits::kSeen, StreamWaits::kExpected};

MadeEvent Call(const char* name, double start, double duration, int correlation) {
  return {
      "cuda_runtime", name, "1", "1", start, duration, Format("\"correlation\": {}", correlation)};
}
MadeEvent Work(const char* category, const char* name, double start, double duration,
               int correlation, const char* stream = "7") {
  return {category,
          name,
          "0",
          stream,
          start,
          duration,
          Format("\"device\": 0, \"correlation\": {}", correlation)};
}
MadeEvent Step(double start, double duration) {
  return {"user_annotation", "ProfilerStep#7", "1", "1", start, duration};
}

double Us(const Replay& replay, const ReplayChange& change, StreamWaits waits) {
  return double(replay.Run(change, waits)) / 1000;
}

// The host launches b late, since it waits for a.
std::vector<MadeEvent> Synchronous() {
  return {Step(0, 500),
          Call("cudaLaunchKernel", 10, 2, 1),
          Work("kernel", "a", 20, 100, 1),
          Call("cudaStreamSynchronize", 15, 110, 9),
          Call("cudaLaunchKernel", 145, 2, 2),
          Work("kernel", "b", 155, 50, 2)};
}

TEST(Replay, WithoutAChangeIsTheRecording) {
  const Trace trace = Converted(Synchronous());
  const TraceLinks links(trace);
  const Replay replay(links);
  EXPECT_EQ(replay.steps(), 1);
  EXPECT_EQ(replay.Recorded(), 185'000);
  for (const StreamWaits waits : kBoth) EXPECT_EQ(replay.Run({}, waits), 185'000);
}

TEST(Replay, AShorterKernelEndsTheWaitOfTheHost) {
  const Trace trace = Converted(Synchronous());
  const TraceLinks links(trace);
  const Replay replay(links);
  for (const StreamWaits waits : kBoth) {
    EXPECT_DOUBLE_EQ(Us(replay, {.computing = 0.5}, waits), 110);  // 50 and 25 less
  }
}

TEST(Replay, AHostThatWaitsForNothingLaunchesEarlier) {
  const Trace trace = Converted(Synchronous());
  const TraceLinks links(trace);
  const Replay replay(links);
  // The call ends 5 us after it began, what it took after a; b is launched 20 us later, at 40,
  // while a runs until 120.
  for (const StreamWaits waits : kBoth) {
    EXPECT_DOUBLE_EQ(Us(replay, {.without_syncs = true}, waits), 150);
    EXPECT_DOUBLE_EQ(Us(replay, {.without_launches = true}, waits), 150);
  }
}

TEST(Replay, TheHostIsFasterOnlyOutsideOfItsWaits) {
  const Trace trace = Converted(Synchronous());
  const TraceLinks links(trace);
  const Replay replay(links);
  // a begins at 5 + 10; the call returns 5 after its end, b is launched 10 later.
  for (const StreamWaits waits : kBoth) EXPECT_DOUBLE_EQ(Us(replay, {.host = 0.5}, waits), 175);
}

TEST(Replay, WaitsForDataGoUnlessOtherThreadsWorked) {
  auto events = Synchronous();
  events.push_back({"user_annotation",
                    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "1", "1", 126,
                    14});
  const Trace alone = Converted(events);
  events.push_back({"cpu_op", "aten::mm", "1", "2", 128, 10});
  const Trace beside = Converted(events);
  for (const StreamWaits waits : kBoth) {
    EXPECT_DOUBLE_EQ(Us(Replay(TraceLinks(alone)), {.data = 0}, waits), 171);
    EXPECT_DOUBLE_EQ(Us(Replay(TraceLinks(beside)), {.data = 0}, waits), 181);
  }
}

// c of another stream begins as soon as the collective has ended, d long after it.
std::vector<MadeEvent> TwoStreams() {
  return {Step(0, 500),
          Call("cudaLaunchKernel", 1, 2, 1),
          Work("kernel", "a", 10, 50, 1),
          Call("cudaLaunchKernel", 4, 2, 2),
          Work("kernel", "ncclDevKernel_AllReduce", 61, 100, 2, "13"),
          Call("cudaLaunchKernel", 7, 2, 3),
          Work("kernel", "c", 162, 20, 3),
          Call("cudaLaunchKernel", 300, 2, 4),
          Work("kernel", "d", 309, 10, 4)};
}

TEST(Replay, WorkWaitsForAnotherStreamThatItFollowedAtOnce) {
  const Trace trace = Converted(TwoStreams());
  const TraceLinks links(trace);
  const Replay replay(links);
  EXPECT_EQ(replay.Recorded(), 309'000);
  for (const StreamWaits waits : kBoth) {
    // d is launched at 300 whatever comes before it.
    EXPECT_DOUBLE_EQ(Us(replay, {.communication = 0}, waits), 309);
    EXPECT_DOUBLE_EQ(Us(replay, {.communication = 0, .without_launches = true}, waits), 82);
  }
}

TEST(Replay, OfOneKernelLeavesTheOthers) {
  const Trace trace = Converted(Synchronous());
  const TraceLinks links(trace);
  const auto a = std::ranges::find(trace.names, "a") - trace.names.begin();
  const ReplayChange change{.kernel = std::uint32_t(a), .kernel_left = 0.5};
  EXPECT_DOUBLE_EQ(Us(Replay(links), change, StreamWaits::kSeen), 135);
}

TEST(Replay, ALaunchThatFindsTheQueueFullWaitsForTheDevice) {
  std::vector<MadeEvent> events = {Step(0, 100'000)};
  for (int i = 0; i < 1'200; ++i) {
    const double begin = 10 + i * 20;  // the device takes 20 us, the host 1 until nothing fits
    const double launch = i < 1'000 ? 1 + i : 10 + (i - 1'000) * 20 - 15;
    const double call = i < 1'000 ? 0.5 : 30;
    events.push_back(Call("cudaLaunchKernel", i < 1'000 ? launch : launch + 1'000, call, i + 1));
    events.push_back(Work("kernel", "k", begin, 20, i + 1));
  }
  const Trace trace = Converted(events);
  const TraceLinks links(trace);
  const Replay replay(links);
  EXPECT_EQ(replay.Recorded(), 24'000'000);
  for (const StreamWaits waits : kBoth) {
    EXPECT_LT(Us(replay, {.computing = 0.5}, waits), 12'600);
  }
}

TEST(Replay, OfNothingIsNothing) {
  const Trace none = Converted(std::vector<MadeEvent>{});
  EXPECT_EQ(Replay(TraceLinks(none)).steps(), 0);
  const Trace outside = Converted({Work("kernel", "a", 20, 100, 1)});
  const TraceLinks links(outside);
  EXPECT_EQ(Replay(links).Recorded(), 0);
  EXPECT_EQ(Replay(links).Run({.computing = 0}, StreamWaits::kSeen), 0);
}

// Work that overlaps within its stream, begins before its launch, and shares correlations.
std::vector<MadeEvent> Random(std::mt19937& random) {
  const auto up_to = [&](int most) { return double(random() % unsigned(most)); };
  std::vector<MadeEvent> events = {Step(0, 5'000)};
  for (int i = 0; i < 200; ++i) {
    const int id = 1 + int(up_to(150));
    const char* const stream = up_to(3) == 0 ? "13" : "7";
    switch (int(up_to(4))) {
      case 0:
        events.push_back(Call("cudaLaunchKernel", up_to(5'000), up_to(20), id));
        break;
      case 1:
        events.push_back(Call("cudaStreamSynchronize", up_to(5'000), up_to(300), id));
        break;
      case 2:
        events.push_back(Work("gpu_memcpy", "Memcpy DtoH", up_to(5'000), up_to(50), id, stream));
        break;
      default:
        events.push_back(Work("kernel", "k", up_to(5'000), up_to(200), id, stream));
    }
  }
  return events;
}

TEST(Replay, OfAnyTraceNeverGrows) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Trace trace = Converted(Random(random));
    const TraceLinks links(trace);
    const Replay replay(links);
    for (const StreamWaits waits : kBoth) {
      ASSERT_EQ(replay.Run({}, waits), replay.Recorded()) << round;
      const ReplayChange changes[] = {{.computing = 0.5},      {.communication = 0},
                                      {.copies = 0},           {.host = 0.5},
                                      {.without_syncs = true}, {.without_launches = true}};
      for (const ReplayChange& change : changes) {
        const std::int64_t length = replay.Run(change, waits);
        ASSERT_LE(length, replay.Recorded()) << round;
        ASSERT_GE(length, 0) << round;
      }
    }
  }
}

}  // namespace
}  // namespace stepscope

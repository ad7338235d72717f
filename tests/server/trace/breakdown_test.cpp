#include "server/trace/breakdown.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "server/trace/answers/answers.h"
#include "server/trace/evidence.h"
#include "server/trace/launches.h"
#include "server/trace/replay/what_if.h"
#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

std::int64_t Us(const BreakdownRow& row, TimePart part) {
  return row.parts_ns[static_cast<std::size_t>(part)] / 1000;
}

void ExpectWhole(const BreakdownRow& row) {
  EXPECT_EQ(std::accumulate(row.parts_ns.begin(), row.parts_ns.end(), std::int64_t{0}),
            row.range.length_ns());
}

MadeEvent Launch(double start, int correlation) {
  return {"cuda_runtime",
          "cudaLaunchKernel",
          "1",
          "1",
          start,
          2,
          Format("\"correlation\": {}", correlation)};
}
MadeEvent Kernel(const char* name, double start, double duration, int correlation,
                 const char* stream = "7") {
  return {"kernel",
          name,
          "0",
          stream,
          start,
          duration,
          Format("\"correlation\": {}, \"device\": 0", correlation)};
}

TEST(Breakdown, PartsAddUpAndNothingCountsTwice) {
  const Trace trace = Converted({
      Kernel("gemm", 100, 100, 1),
      Kernel("ncclDevKernel_AllReduce", 150, 100, 2, "13"),
      {"gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "0", "9", 240, 30, "\"correlation\": 3"},
      Kernel("relu", 300, 50, 4),
  });
  const auto devices = MakeBreakdown(TraceLinks(trace));
  ASSERT_EQ(devices.size(), 1);
  const BreakdownRow& total = devices[0].total;
  EXPECT_EQ(total.range.length_ns(), 250'000);
  EXPECT_EQ(Us(total, TimePart::kComputing), 150);
  EXPECT_EQ(Us(total, TimePart::kCommunication), 50);  // the half that nothing hides
  EXPECT_EQ(Us(total, TimePart::kCopies), 20);
  EXPECT_EQ(Us(total, TimePart::kOtherIdle), 30);  // no launch is known
  ExpectWhole(total);
}

TEST(Breakdown, SaysWhyTheDeviceWasIdle) {
  const Trace trace = Converted({
      Launch(90, 1),
      Kernel("a", 100, 10, 1),
      Launch(80, 2),
      Kernel("b", 114, 6, 2),  // a gap of 4 us
      Launch(150, 3),
      Kernel("c", 160, 10, 3),  // launched 30 us after the device ran dry
      {"cuda_runtime", "cudaStreamSynchronize", "1", "1", 170, 50},
      Launch(225, 4),
      Kernel("d", 230, 10, 4),  // for 50 of 60 us the host waited for the device
      {"user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "1", "1",
       240, 80},
      Launch(325, 5),
      Kernel("e", 330, 10, 5),  // for 80 of 90 us it waited for data
      Launch(326, 6),
      Kernel("f", 400, 10, 6),  // launched in time
  });
  const BreakdownRow total = MakeBreakdown(TraceLinks(trace))[0].total;
  EXPECT_EQ(Us(total, TimePart::kShortGap), 4);
  EXPECT_EQ(Us(total, TimePart::kHostLate), 40);
  EXPECT_EQ(Us(total, TimePart::kHostSync), 60);
  EXPECT_EQ(Us(total, TimePart::kHostData), 90);
  EXPECT_EQ(Us(total, TimePart::kOtherIdle), 60);
  ExpectWhole(total);
}

TEST(Breakdown, AnIteratorOfTfDataIsAWaitForInput) {
  for (const char* const name :
       {"IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute",
        "train/IteratorGetNext:IteratorGetNext", "IteratorGetNextSync"}) {
    const Trace trace = Converted({
        Kernel("a", 100, 10, 1),
        {"cpu_op", name, "1", "1", 112, 80},
        Launch(195, 2),
        Kernel("b", 200, 10, 2),
    });
    const BreakdownRow total = MakeBreakdown(TraceLinks(trace))[0].total;
    EXPECT_EQ(Us(total, TimePart::kHostData), 90) << name;
  }
  const Trace ahead = Converted({
      Kernel("a", 100, 10, 1),
      {"cpu_op", "Iterator::Root::Prefetch::MapAndBatch", "1", "2", 112, 80},
      Launch(195, 2),
      Kernel("b", 200, 10, 2),
  });
  EXPECT_EQ(Us(MakeBreakdown(TraceLinks(ahead))[0].total, TimePart::kHostData), 0);
}

TEST(Breakdown, StepsLieSideBySideThoughTheHostIsAhead) {
  const Trace trace = Converted({
      {"user_annotation", "ProfilerStep#4", "1", "1", 0, 10},
      {"user_annotation", "ProfilerStep#5", "1", "1", 10, 10},
      Launch(5, 1),
      Kernel("a", 100, 50, 1),
      Launch(15, 2),
      Kernel("a", 160, 40, 2),
  });
  const DeviceBreakdown device = MakeBreakdown(TraceLinks(trace))[0];
  ASSERT_EQ(device.steps.size(), 2);
  EXPECT_EQ(device.steps[0].step, 4);
  EXPECT_EQ(device.steps[0].range.length_ns(), 60'000);
  EXPECT_EQ(device.steps[1].range.length_ns(), 40'000);
  ExpectWhole(device.steps[0]);
  ExpectWhole(device.steps[1]);
}

// The batch of the next step is copied, and weights of it gathered, while this one computes.
TEST(Breakdown, WhatRunsAheadBeginsNoStep) {
  const Trace trace = Converted({
      {"user_annotation", "ProfilerStep#4", "1", "1", 0, 10},
      {"user_annotation", "ProfilerStep#5", "1", "1", 10, 10},
      Launch(5, 1),
      Kernel("a", 100, 50, 1),
      Launch(11, 2),
      {"gpu_memcpy", "Memcpy HtoD", "0", "9", 110, 10, "\"correlation\": 2, \"device\": 0"},
      Launch(12, 3),
      Kernel("ncclDevKernel_AllGather", 130, 10, 3, "13"),
      Launch(15, 4),
      Kernel("a", 160, 40, 4),
  });
  const DeviceBreakdown device = MakeBreakdown(TraceLinks(trace))[0];
  ASSERT_EQ(device.steps.size(), 2);
  EXPECT_EQ(device.steps[0].range.length_ns(), 60'000);
  EXPECT_EQ(Us(device.steps[0], TimePart::kComputing), 50);
  EXPECT_EQ(device.steps[1].range.length_ns(), 40'000);
}

TEST(Breakdown, OfATrainingOnTheCpuIsOfTheHost) {
  const Trace trace = Converted({
      {"user_annotation", "ProfilerStep#0", "1", "1", 0, 100},
      {"user_annotation", "enumerate(DataLoader)#_Iter.__next__", "1", "1", 10, 30},
      {"cpu_op", "aten::empty", "1", "1", 20, 5},
      {"cpu_op", "aten::mm", "1", "1", 50, 20},
      {"cpu_op", "aten::mm", "1", "2", 60, 20},
  });
  const auto hosts = MakeBreakdown(TraceLinks(trace));
  ASSERT_EQ(hosts.size(), 1);
  EXPECT_EQ(hosts[0].device, -1);
  const BreakdownRow& step = hosts[0].steps.at(0);
  EXPECT_EQ(Us(step, TimePart::kHostData), 30);
  EXPECT_EQ(Us(step, TimePart::kComputing), 30);
  EXPECT_EQ(Us(step, TimePart::kOtherIdle), 40);
  ExpectWhole(step);
}

TEST(Breakdown, OfNothingIsNothing) {
  EXPECT_TRUE(MakeBreakdown(TraceLinks(Converted(std::vector<MadeEvent>{}))).empty());
}

TEST(Breakdown, SaysThatTheWorkOfTheDeviceWasNotRecorded) {
  const Trace trace = Converted({
      {"user_annotation", "ProfilerStep#0", "1", "1", 0, 100},
      {"user_annotation", "ProfilerStep#1", "1", "1", 100, 100},
      {"cpu_op", "aten::mm", "1", "1", 50, 20},
      Launch(55, 1),
  });
  const TraceLinks links(trace);
  EXPECT_TRUE(LacksDeviceWork(links));
  EXPECT_TRUE(MakeBreakdown(links).empty()) << "the host's operators are not the device's time";
  EXPECT_TRUE(EvidenceOf(links).is_null());
  const auto answer = std::ranges::find(TraceAnswers(), "breakdown", &AnswerRow::name);
  EXPECT_EQ(answer->make(links)["note"], kDeviceWorkLacks);
  const OrderedJson launches = ToJson(MakeLaunchTable(links));
  EXPECT_EQ(launches["note"], kDeviceWorkLacks);
  for (const char* const share : {"launch_bound_share", "short_share", "graph_share"}) {
    EXPECT_TRUE(launches[share].is_null()) << share;
  }
  EXPECT_FALSE(MakeWhatIf(links).unknown.empty());
}

TEST(TraceLinks, NumbersOfTwoProcessesJoinNothing) {
  const Trace trace = Converted({
      {"user_annotation", "ProfilerStep#0", "1", "1", 0, 100},
      {"cuda_runtime", "cudaLaunchKernel", "1", "1", 10, 2, "\"correlation\": 1"},
      {"cuda_runtime", "cudaLaunchKernel", "2", "1", 110, 2, "\"correlation\": 1"},
      {"cuda_runtime", "cudaLaunchKernel", "1", "1", 20, 2, "\"correlation\": 2"},
      {"cuda_driver", "cuLaunchKernel", "1", "3", 21, 1, "\"correlation\": 2"},
      Kernel("unknown", 120, 10, 1),
      Kernel("known", 140, 10, 2),
  });
  const TraceLinks links(trace);
  for (const TraceSpan& span : trace.spans) {
    if (!IsDeviceWork(span.kind)) continue;
    const bool known = trace.NameOf(span) == "known";
    EXPECT_EQ(links.LaunchOf(span) != TraceLinks::kNone, known);
    EXPECT_EQ(span.step, known ? 0 : kNoStep);
  }
}

}  // namespace
}  // namespace stepscope

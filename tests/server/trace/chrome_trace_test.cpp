#include "server/trace/chrome_trace.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "server/trace/answers/answers.h"
#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

// All that a trace holds, by way of what is stored of it.
Trace ExportedAndRead(const Trace& trace, int rank) {
  std::map<std::uint32_t, std::string> names;
  std::map<std::uint32_t, SpanDetail> details;
  Json tracks;
  for (const TracePart& part : TakeApart(trace)) {
    if (part.part == "details") {
      for (const SpanDetail& detail : *DecodeDetails(part.payload)) {
        details.emplace(std::uint32_t(details.size()), detail);
      }
    }
    if (part.part == "tracks") tracks = Json::parse(*DecodeText(part.payload, part.size));
  }
  for (std::size_t i = 0; i < trace.names.size(); ++i) names[std::uint32_t(i)] = trace.names[i];
  const std::vector<TraceSpan> spans(trace.spans.begin(), trace.spans.end());
  const Json summary = Json::parse(Dump(SummaryOf(trace)));
  return Converted(ChromeTrace({spans, names, details, tracks, summary, rank}));
}

TEST(ChromeTrace, IsReadAsWhatItWasMadeOf) {
  const std::vector<std::string> events = {
      R"({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}})",
      R"({"ph": "M", "name": "thread_name", "pid": 1, "tid": "main", "args": {"name": "Main"}})",
      ToText(MadeEvent{"kernel", "gemm", "0", "7", 0.5, 2.5,
                       "\"External id\": 5, \"correlation\": 9, \"device\": 0, \"stream\": 7, "
                       "\"grid\": [1, 2, 3], \"block\": [64, 1, 1], \"graph id\": 4, "
                       "\"est. achieved occupancy %\": 12.5"}),
      ToText(MadeEvent{"cpu_op", "aten::\\\"mm\\\"", "1", "\"main\"", 1.5, 20.25,
                       "\"External id\": 5, \"Input Dims\": [[2, 3], []], \"Input type\": "
                       "[\"float\", \"\"]"}),
      ToText(MadeEvent{"gpu_memcpy", "Memcpy HtoD", "0", "8", 3, 1, "\"bytes\": 4096"}),
      ToText(MadeEvent{"kernel", "ncclDevKernel_AllReduce", "0", "9", 5, 1,
                       "\"Collective name\": \"allreduce\", \"Process Group Name\": \"0\", "
                       "\"dtype\": \"Float\", \"Group size\": 8, \"In msg nelems\": 16, "
                       "\"Out msg nelems\": 16"}),
  };
  const Trace trace =
      Converted(TraceText(events,
                          "\"baseTimeNanoseconds\": 1790857026000000000, \"distributedInfo\": "
                          "{\"rank\": 1, \"world_size\": 8, \"backend\": \"nccl\"}, "
                          "\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100\"}]"));
  const Trace again = ExportedAndRead(trace, 4);
  EXPECT_TRUE(again.faults.empty());
  EXPECT_EQ(again.rank, 4);
  EXPECT_EQ(again.world_size, 8);
  EXPECT_EQ(again.backend, "nccl");
  EXPECT_EQ(again.device_name, "NVIDIA H100");
  EXPECT_EQ(again.base_ns, trace.base_ns);
  ASSERT_EQ(again.spans.size(), trace.spans.size());
  for (const TraceSpan& span : trace.spans) {
    const auto found = std::ranges::find_if(again.spans, [&](const TraceSpan& other) {
      return again.NameOf(other) == trace.NameOf(span);
    });
    ASSERT_NE(found, again.spans.end()) << trace.NameOf(span);
    EXPECT_EQ(found->start_ns, span.start_ns);
    EXPECT_EQ(found->duration_ns, span.duration_ns);
    EXPECT_EQ(found->kind, span.kind);
    EXPECT_EQ(found->correlation, span.correlation);
    EXPECT_EQ(found->external, span.external);
    const SpanDetail &one = trace.details[span.detail], &other = again.details[found->detail];
    EXPECT_EQ(other.bytes, one.bytes);
    EXPECT_EQ(other.occupancy, one.occupancy);
    EXPECT_EQ(other.graph, one.graph);
    EXPECT_EQ(other.group_size, one.group_size);
    EXPECT_EQ(other.in_elements, one.in_elements);
    const auto same = [&](std::uint32_t SpanDetail::*name) {
      const std::string &before = trace.names[one.*name], &after = again.names[other.*name];
      const Json parsed = Json::parse(before, nullptr, false);
      return before == after || (!parsed.is_discarded() && parsed == Json::parse(after));
    };
    EXPECT_TRUE(same(&SpanDetail::grid) && same(&SpanDetail::block) && same(&SpanDetail::shapes) &&
                same(&SpanDetail::types) && same(&SpanDetail::collective) &&
                same(&SpanDetail::group))
        << trace.NameOf(span);
    const TraceTrack &track = trace.tracks[span.track], &new_track = again.tracks[found->track];
    EXPECT_EQ(new_track.process, track.process);
    EXPECT_EQ(new_track.thread, track.thread);
    EXPECT_EQ(new_track.process_name, track.process_name);
    EXPECT_EQ(new_track.thread_name, track.thread_name);
    EXPECT_EQ(new_track.device, track.device);
    EXPECT_EQ(new_track.stream, track.stream);
  }
}

TEST(ChromeTrace, TimesOfAClockOfItsOwnStayOnIt) {
  const Trace trace = Converted({{"cpu_op", "op", "1", "1", 7'000.5, 2}});
  ASSERT_FALSE(trace.has_base);
  const Trace again = ExportedAndRead(trace, 0);
  EXPECT_FALSE(again.has_base);
  EXPECT_EQ(again.base_ns, 7'000'500);
}

TEST(TraceParts, GiveBackTheSpansOfATrack) {
  std::vector<MadeEvent> events;
  for (int i = 0; i < 20'000; ++i) {
    events.push_back(
        {"cpu_op", Format("op{}", i % 300), "1", i % 3 == 0 ? "1" : "2", i * 10.0, 7.25});
  }
  const Trace trace = Converted(events);
  std::vector<TraceSpan> spans;
  std::size_t names = 0;
  for (const TracePart& part : EncodeParts(trace)) {
    if (part.part == "names") names += DecodeNames(part.payload, part.size)->size();
    if (part.part != "spans") continue;
    for (const TraceSpan& span : *DecodeSpans(part.payload, std::uint16_t(part.track))) {
      EXPECT_LE(span.end_ns(), part.to_ns);
      EXPECT_GE(span.start_ns, part.from_ns);
      spans.push_back(span);
    }
  }
  EXPECT_EQ(names, trace.names.size());
  ASSERT_EQ(spans.size(), trace.spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    ASSERT_EQ(spans[i].start_ns, trace.spans[i].start_ns);
    ASSERT_EQ(spans[i].name, trace.spans[i].name);
    ASSERT_EQ(spans[i].track, trace.spans[i].track);
  }
}

TEST(TraceParts, RefuseHostileBytes) {
  for (const std::string bytes : {"", "x", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}) {
    EXPECT_FALSE(DecodeSpans(bytes, 0));
    EXPECT_FALSE(DecodeDetails(bytes));
    EXPECT_FALSE(DecodeText(bytes, 10));
    EXPECT_FALSE(DecodeText(bytes, -1));
    EXPECT_FALSE(DecodeText(bytes, INT64_MAX));
  }
}

}  // namespace
}  // namespace stepscope

#include "server/trace/chrome_trace.h"

#include <gtest/gtest.h>

#include "server/trace/answers/answers.h"
#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

TEST(ChromeTrace, IsReadAsWhatItWasMadeOf) {
  const Trace trace = Converted({
      {"cpu_op", "aten::\\\"mm\\\"", "1", "\"main\"", 1.5, 20.25, "\"External id\": 5"},
      {"kernel", "gemm", "0", "7", 40.125, 2.5,
       "\"External id\": 5, \"correlation\": 9, \"device\": 0"},
  });
  std::map<std::uint32_t, std::string> names;
  for (std::size_t i = 0; i < trace.names.size(); ++i) names[std::uint32_t(i)] = trace.names[i];
  const std::vector<TraceSpan> spans(trace.spans.begin(), trace.spans.end());
  const Json tracks = *ParseJson(R"({"tracks":[{"track":0,"process":"1","thread":"main"},
      {"track":1,"process":"0","thread":"7"}]})");
  const Trace again = Converted(ChromeTrace(spans, names, tracks, 4));
  EXPECT_TRUE(again.faults.empty());
  EXPECT_EQ(again.rank, 4);
  ASSERT_EQ(again.spans.size(), 2);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again.NameOf(again.spans[i]), trace.NameOf(trace.spans[i]));
    EXPECT_EQ(again.spans[i].start_ns, trace.spans[i].start_ns);
    EXPECT_EQ(again.spans[i].duration_ns, trace.spans[i].duration_ns);
    EXPECT_EQ(again.spans[i].kind, trace.spans[i].kind);
    EXPECT_EQ(again.spans[i].correlation, trace.spans[i].correlation);
  }
  EXPECT_EQ(again.tracks[again.spans[0].track].thread, "main");
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
    EXPECT_FALSE(DecodeText(bytes, 10));
    EXPECT_FALSE(DecodeText(bytes, -1));
    EXPECT_FALSE(DecodeText(bytes, INT64_MAX));
  }
}

}  // namespace
}  // namespace stepscope

#include "core/trace/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/trace/span_kinds.h"
#include "core/wire/compress.h"
#include "tests/support/gzipped.h"
#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::vector<MadeEvent> kTwo = {
    {"cpu_op", "aten::mm", "100", "100", 10, 20, "\"External id\": 5"},
    {"kernel", "gemm", "0", "7", 40.125, 2.5,
     "\"External id\": 5, \"correlation\": 9, \"device\": 0, \"stream\": 7, \"grid\": [1, 2, 3], "
     "\"est. achieved occupancy %\": 12.5"},
};

TEST(ConvertTrace, ReadsWhatKinetoWrites) {
  const Trace trace = Converted(
      TraceText(kTwo,
                "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8}, "
                "\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100\"}], "
                "\"baseTimeNanoseconds\": 1790857026000000000"));

  ASSERT_EQ(trace.spans.size(), 2);
  const TraceSpan& kernel = trace.spans[1];
  EXPECT_EQ(trace.NameOf(kernel), "gemm");
  EXPECT_EQ(kernel.kind, SpanKind::kKernel);
  EXPECT_EQ(kernel.start_ns, 30'125);  // since the first
  EXPECT_EQ(kernel.duration_ns, 2'500);
  EXPECT_EQ(kernel.correlation, 9);
  EXPECT_EQ(kernel.external, 5);
  EXPECT_EQ(trace.details[kernel.detail].occupancy, 1250);
  EXPECT_EQ(trace.names[trace.details[kernel.detail].grid], "[1, 2, 3]");
  EXPECT_EQ(trace.tracks[kernel.track].device, 0);
  EXPECT_EQ(trace.tracks[kernel.track].stream, 7);
  EXPECT_EQ(trace.rank, 3);
  EXPECT_EQ(trace.world_size, 8);
  EXPECT_EQ(trace.device_name, "NVIDIA H100");
  EXPECT_EQ(trace.base_ns, 1'790'857'026'000'010'000);
  EXPECT_THAT(trace.faults, IsEmpty());
}

TEST(ConvertTrace, DoesNotDependOnHowTheBytesAreCut) {
  const std::string text = TraceText(kTwo);
  for (const std::size_t piece : {1, 2, 3, 7, 64, 1000}) {
    const Trace trace = Converted(text, {}, piece);
    EXPECT_EQ(trace.spans.size(), 2) << piece;
    EXPECT_THAT(trace.faults, IsEmpty()) << piece;
  }
}

TEST(ConvertTrace, UnpacksGzipAndZstdInSeveralParts) {
  const std::string text = TraceText(kTwo);
  const std::string_view half(text.data(), text.size() / 2), rest(text.data() + half.size());
  for (const std::string& packed : {Gzipped(text), Gzipped(half) + Gzipped(rest), Compress(text),
                                    Compress(half) + Compress(rest)}) {
    const Trace trace = Converted(packed, {}, 100);
    EXPECT_EQ(trace.spans.size(), 2);
    EXPECT_THAT(trace.faults, IsEmpty());
    EXPECT_EQ(trace.bytes, text.size());
  }
}

TEST(ConvertTrace, ReadsACutFileAsFarAsItGoes) {
  const std::string text = TraceText(kTwo);
  const std::string cut = text.substr(0, text.find("\"kernel\""));
  EXPECT_EQ(Converted(cut).spans.size(), 1);
  EXPECT_THAT(Converted(cut).faults, ElementsAre(Pair("truncated", 1)));

  std::vector<MadeEvent> many;
  for (int i = 0; i < 5000; ++i) many.push_back({"cpu_op", "op", "1", "1", i * 1.0, 0.25 + i % 7});
  const std::string packed = Gzipped(TraceText(many));
  const Trace half = Converted(std::string_view(packed).substr(0, packed.size() / 2));
  EXPECT_GT(half.spans.size(), 100);
  EXPECT_THAT(half.faults, ElementsAre(Pair("truncated", 1)));
}

// Each is read to its end, and what could not be read is counted by its reason.
struct BrokenCase {
  const char* what;
  std::string text;
  std::size_t spans;
  TraceFaults faults;
};

std::string With(std::string member) {
  return "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"pid\": 1, \"tid\": 1, " + std::move(member) + "}";
}
std::string Named(const std::string& name) {
  return With("\"name\": \"" + name + "\", \"ts\": 1, \"dur\": 2");
}
const std::string kGood = With("\"name\": \"good\", \"ts\": 10, \"dur\": 2");

const BrokenCase kBroken[] = {
    {"an unescaped backslash", TraceText({Named("C:\\dir\\q.py(3): f"), kGood}), 2, {}},
    {"a backslash at the end", TraceText({Named("C:\\dir\\"), kGood}), 2, {{"unescaped_text", 1}}},
    {"an unescaped quote", TraceText({Named("f(\"a\")"), kGood}), 2, {}},
    {"a quote and a comma", TraceText({Named("f(\"a\", b)"), kGood}), 2, {{"unescaped_text", 1}}},
    {"a bracket in the file's name",
     "{\"traceName\": \"/tmp/a]\n}b.json\", \"traceEvents\": [" + kGood + "]}",
     1,
     {}},
    {"a bare array", "[" + kGood + ", " + kGood + "]", 2, {}},
    {"a bare array without an end", "[" + kGood + ",\n", 1, {{"truncated", 1}}},
    {"words in place of numbers",
     TraceText({With("\"name\": \"n\", \"ts\": 3, \"dur\": 1, \"args\": {\"bytes\": NaN, \"x\": "
                     "-Infinity, \"y\": N/A}"),
                kGood}),
     2,
     {}},
    {"a start that is no number",
     TraceText({With("\"name\": \"n\", \"ts\": NaN, \"dur\": 1"), kGood}),
     1,
     {{"bad_start", 1}}},
    {"invalid UTF-8", TraceText({Named("\xff\xfe\x01"), kGood}), 2, {}},
    {"a negative duration",
     TraceText({With("\"name\": \"n\", \"ts\": 3, \"dur\": -1"), kGood}),
     1,
     {{"bad_duration", 1}}},
    {"236 years",
     TraceText({With("\"name\": \"n\", \"ts\": 3, \"dur\": 7447593600000000"), kGood}),
     1,
     {{"bad_duration", 1}}},
    {"a start as text",
     TraceText({With("\"name\": \"n\", \"ts\": \"3.5\", \"dur\": 1"), kGood}),
     2,
     {}},
    {"no start", TraceText({With("\"name\": \"n\", \"dur\": 1"), kGood}), 1, {{"no_start", 1}}},
    {"a negative start",
     TraceText({With("\"name\": \"n\", \"ts\": -5, \"dur\": 1"), kGood}),
     1,
     {{"bad_start", 1}}},
    {"a kernel that was never filled in",
     TraceText({"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, "
                "\"ts\": 0, \"dur\": 1}",
                kGood}),
     1,
     {{"no_start", 1}}},
    {"only metadata",
     TraceText({std::string("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": "
                            "{\"name\": \"python\"}}")}),
     0,
     {}},
    {"an unfinished arrow",
     TraceText(
         {std::string(
              "{\"ph\": \"s\", \"id\": 1, \"pid\": 1, \"tid\": 1, \"ts\": 1, \"cat\": \"ac2g\"}"),
          kGood}),
     1,
     {}},
    {"a member that is cut off",
     TraceText({std::string("{\"ph\": \"X\", \"name\": \"n\", \"ts\": }"), kGood}),
     1,
     {{"broken_event", 1}}},
    {"rubbish between events",
     TraceText({kGood, "xyz }} ]x { \"a", kGood}),
     2,
     {{"broken_event", 1}}},
    {"other phases",
     TraceText({std::string("{\"ph\": \"C\", \"name\": \"n\", \"ts\": 1}"), kGood}),
     1,
     {{"phase_not_read", 1}}},
    {"a begin without an end",
     TraceText({std::string("{\"ph\": \"B\", \"name\": \"n\", \"ts\": 1}"), kGood}),
     1,
     {{"begin_without_end", 1}}},
    {"an end without a begin",
     TraceText({std::string("{\"ph\": \"E\", \"ts\": 1}"), kGood}),
     1,
     {{"end_without_begin", 1}}},
    {"an end before its begin",
     TraceText({std::string("{\"ph\": \"B\", \"name\": \"n\", \"ts\": 9}"),
                std::string("{\"ph\": \"E\", \"ts\": 1}"), kGood}),
     1,
     {{"bad_duration", 1}}},
    {"an empty object at the end", TraceText({kGood, std::string("{ }")}), 1, {}},
    {"an object without a phase",
     TraceText({kGood, std::string("{\"a\": 1}")}),
     1,
     {{"no_phase", 1}}},
    {"a second document",
     TraceText({kGood}) + "\n" + TraceText({kGood, kGood}),
     1,
     {{"more_behind_the_end", 1}}},
    {"a second array", "[" + kGood + "] [" + kGood + "]", 1, {{"more_behind_the_end", 1}}},
    {"space behind the end", TraceText({kGood}) + "\n \n", 1, {}},
    {"nothing", "", 0, {{"empty", 1}}},
    {"no JSON", "hello", 0, {{"not_json", 1}}},
    {"no events", "{\"schemaVersion\": 1}", 0, {}},
    {"a depth of 1000",
     TraceText({With("\"name\": \"n\", \"ts\": 1, \"dur\": 1, \"x\": " + std::string(1000, '[') +
                     std::string(1000, ']')),
                kGood}),
     1,
     {{"broken_event", 1}}},
};

TEST(ConvertTrace, ReadsBrokenFilesAsFarAsTheyGo) {
  for (const BrokenCase& broken : kBroken) {
    const Trace trace = Converted(broken.text);
    EXPECT_EQ(trace.spans.size(), broken.spans) << broken.what;
    EXPECT_EQ(trace.faults, broken.faults) << broken.what;
  }
}

TEST(ConvertTrace, JoinsBeginsAndEndsOfAThread) {
  const auto event = [](const char* phase, const char* name, int thread, int at) {
    return Format(R"({{"ph": "{}", "name": "{}", "cat": "mine", "pid": 1, "tid": {}, "ts": {}}})",
                  phase, name, thread, at);
  };
  const Trace trace = Converted(TraceText(std::vector<std::string>{
      event("B", "outer", 1, 10), event("B", "other thread", 2, 11), event("B", "inner", 1, 12),
      event("E", "", 1, 15), event("E", "", 2, 30), event("E", "", 1, 20)}));
  EXPECT_THAT(trace.faults, IsEmpty());
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> spans;
  for (const TraceSpan& span : trace.spans) {
    spans[trace.NameOf(span)] = {trace.base_ns + span.start_ns, span.duration_ns};
    EXPECT_EQ(span.kind, SpanKind::kOther);
  }
  EXPECT_EQ(spans["outer"], std::pair(std::int64_t{10'000}, std::int64_t{10'000}));
  EXPECT_EQ(spans["inner"], std::pair(std::int64_t{12'000}, std::int64_t{3'000}));
  EXPECT_EQ(spans["other thread"], std::pair(std::int64_t{11'000}, std::int64_t{19'000}));
  EXPECT_EQ(trace.tracks[0].spans + trace.tracks[1].spans, 3u);
}

TEST(ConvertTrace, KeepsWhatANameSays) {
  EXPECT_EQ(Converted(TraceText({Named("f(\"a\", b)"), kGood})).names[1], "f(\"a\", b)");
  EXPECT_EQ(Converted(TraceText({Named("C:\\dir\\q")})).names[1], "C:\\dir\\q");
  EXPECT_EQ(Converted(TraceText({Named("a\\u00e9\\n\\\"b\\\"")})).names[1], "aé\n\"b\"");
}

TEST(ConvertTrace, StopsAtItsLimitsAndCounts) {
  std::vector<MadeEvent> many;
  for (int i = 0; i < 100; ++i) many.push_back({"cpu_op", Format("op{}", i), "1", "1", i * 1.0, 1});
  const Trace few = Converted(TraceText(many), {.spans = 10});
  EXPECT_EQ(few.spans.size(), 10);
  EXPECT_EQ(few.faults.at("spans_beyond_limit"), 90);
  const Trace names = Converted(TraceText(many), {.names = 11});
  EXPECT_EQ(names.names.size(), 11);
  EXPECT_EQ(names.faults.at("names_beyond_limit"), 90);
}

TEST(ConvertTrace, HoldsLittleForAGreatValue) {
  const std::string great(20 * 1024 * 1024, 'x');
  const Trace trace = Converted(TraceText({Named(great), kGood, kGood}));
  EXPECT_EQ(trace.spans.size(), 2);
  EXPECT_EQ(trace.faults.at("too_large"), 1);
}

// As some versions of Kineto write records that were never filled in.
TEST(Arrange, ARecordAtZeroFarFromAllOthersIsNoneOfThem) {
  for (const char* const category : {"cuda_event", "overhead", "cpu_op"}) {
    const Trace trace = Converted({
        {category, "never", "1", "1", 0, 3},
        {"cpu_op", "aten::mm", "1", "1", 4'908'189'192'799.0, 20},
        {"kernel", "gemm", "0", "7", 4'908'189'192'850.0, 5},
    });
    ASSERT_EQ(trace.spans.size(), 2u) << category;
    EXPECT_EQ(trace.faults.at("no_start"), 1u) << category;
    EXPECT_EQ(trace.base_ns, 4'908'189'192'799'000) << category;
    EXPECT_EQ(trace.tracks[trace.spans[0].track].spans, 1u) << category;
  }
  const Trace own = Converted({
      {"cpu_op", "first", "1", "1", 0, 3},
      {"cpu_op", "second", "1", "1", 5'000'000, 20},
      {"cpu_op", "third", "1", "1", 60'000'000, 20},
  });
  EXPECT_EQ(own.spans.size(), 3u) << "times that begin at 0";
}

TEST(Arrange, EventsOfAStreamAreOfTheDevice) {
  const Trace trace = Converted({{"cuda_event", "Event Sync", "0", "7", 5, 1}});
  EXPECT_EQ(trace.spans[0].kind, SpanKind::kSync);
  EXPECT_TRUE(trace.tracks[0].on_device);
}

TEST(Arrange, RemovesDuplicatesButNotTwins) {
  MadeEvent twin{"cpu_op", "aten::empty", "1", "1", 5, 0};
  EXPECT_EQ(Converted({twin, twin}).spans.size(), 2);
  twin.args = "\"External id\": 3";
  const Trace trace = Converted({twin, twin});
  EXPECT_EQ(trace.spans.size(), 1);
  EXPECT_EQ(trace.faults.at("duplicate"), 1);
  EXPECT_EQ(trace.tracks[0].spans, 1);
}

TEST(Arrange, DeviceWorkBelongsToTheStepThatLaunchedIt) {
  const Trace trace = Converted({
      {"user_annotation", "ProfilerStep#7", "1", "1", 0, 100},
      {"user_annotation", "ProfilerStep#8", "1", "1", 100, 100},
      {"cuda_runtime", "cudaLaunchKernel", "1", "1", 50, 5, "\"correlation\": 1"},
      {"kernel", "late", "0", "7", 150, 10, "\"correlation\": 1"},
      {"kernel", "orphan", "0", "7", 170, 10, "\"correlation\": 2"},
  });
  ASSERT_EQ(trace.steps.size(), 2);
  EXPECT_EQ(trace.steps[0].number, 7);
  EXPECT_EQ(trace.step_markers, StepMarkers::kProfiler);
  std::map<std::string, std::int32_t> steps;
  for (const TraceSpan& span : trace.spans) steps[trace.NameOf(span)] = span.step;
  EXPECT_EQ(steps["late"], 0);
  EXPECT_EQ(steps["orphan"], kNoStep);
}

TEST(Arrange, AStepEndsWithTheOptimizerWhereNothingElseMarksIt) {
  const Trace trace = Converted({
      {"cpu_op", "aten::mm", "1", "1", 10, 5},
      {"user_annotation", "Optimizer.step#SGD.step", "1", "1", 80, 20},
      {"cpu_op", "aten::mm", "1", "1", 110, 5},
      {"user_annotation", "Optimizer.step#SGD.step", "1", "1", 180, 20},
  });
  ASSERT_EQ(trace.steps.size(), 2);
  EXPECT_EQ(trace.step_markers, StepMarkers::kOptimizer);
  EXPECT_EQ(trace.steps[0].start_ns, 0);
  EXPECT_EQ(trace.steps[1].start_ns, 90'000);
  EXPECT_EQ(trace.steps[1].end_ns, 190'000);
}

TEST(IsCommunication, KnowsWhatMovesDataBetweenRanks) {
  for (const char* const name :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "void symm_mem_barrier()",
        "void c10d::symmetric_memory::multimem_all_reduce_kernel<c10::BFloat16, "
        "16>(c10::BFloat16*)",
        "void (anonymous namespace)::one_shot_all_reduce_kernel<float>(float*)",
        "two_shot_all_reduce_kernel_inplace<c10::BFloat16>",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
        "void sglang::cross_device_reduce_2stage<__half, 8>(sglang::RankData*)",
        "mscclKernel_Sum_hip_bfloat16_Simple_false(ncclDevComm*, mscclAlgo*, mscclWork*)",
        "void mscclpp::allreduce7<float>(float*)", "all-reduce", "all-reduce.12",
        "all-reduce-start.3", "all-gather-done", "reduce-scatter.1", "%all-to-all.4",
        "collective-permute-start", "all-gather-fusion.2", "loop_all-reduce_fusion",
        "ragged-all-to-all"}) {
    EXPECT_TRUE(IsCommunication(name)) << name;
  }
  for (const char* const name :
       {"void at::native::reduce_kernel<512, 1>()", "fusion.12", "reduce.4", "gather.1",
        "void cutlass::device_kernel<gemm>()", "small-reduce", "overall-reduce"}) {
    EXPECT_FALSE(IsCommunication(name)) << name;
  }
}

// As torch_npu writes trace_view.json: a bare array, times as texts, no categories on the device.
TEST(AscendTrace, HasWorkLaunchesAndCollectives) {
  const auto named = [](int process, const char* name) {
    return Format(
        R"({{"ph": "M", "name": "process_name", "pid": {}, "tid": 0, "args": {{"name": "{}"}}}})",
        process, name);
  };
  const auto thread = [](int process, int number, const char* name) {
    return Format(
        R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": "{}"}}}})",
        process, number, name);
  };
  const auto span = [](const char* name, int process, int number, const char* start, int duration,
                       const char* rest) {
    return Format(R"({{"ph": "X", "name": "{}", "pid": {}, "tid": {}, "ts": "{}", "dur": {}{}}})",
                  name, process, number, start, duration, rest);
  };
  const std::vector<std::string> events = {
      named(1, "Python"),
      named(2, "CANN"),
      named(3, "Ascend Hardware"),
      named(4, "Communication"),
      named(5, "Overlap Analysis"),
      thread(3, 10, "Stream 2"),
      thread(4, 20, "Plane 0"),
      span("ProfilerStep#6", 1, 1, "1699529623106000.5", 900, ""),
      span("aten::mm", 1, 1, "1699529623106010", 20, R"(, "cat": "cpu_op")"),
      span("Node@launch", 2, 5, "1699529623106020", 5, R"(, "args": {"connection_id": 77})"),
      span("aclnnMatmul_MatMulV2_MatMulV2", 3, 10, "1699529623106100", 100,
           R"(, "args": {"Task Type": "AI_CORE", "connection_id": 77})"),
      span("EVENT_WAIT", 3, 10, "1699529623106200", 20, ""),
      span("MEMCPY_ASYNC", 3, 10, "1699529623106300", 20, ""),
      span("hcom_allReduce__112_0_1", 4, 20, "1699529623106400", 50, ""),
      span("Notify_Wait", 4, 20, "1699529623106410", 10, ""),
      span("Computing", 5, 1, "1699529623106100", 100, ""),
  };
  std::string text = "[";
  for (const std::string& event : events) text += (text.size() > 1 ? ",\n" : "") + event;
  const Trace trace = Converted(text + "]");
  EXPECT_THAT(trace.faults, IsEmpty());
  std::map<std::string, const TraceSpan*> spans;
  for (const TraceSpan& each : trace.spans) spans[trace.NameOf(each)] = &each;
  const auto kind = [&](const char* name) { return spans.at(name)->kind; };
  EXPECT_EQ(kind("aten::mm"), SpanKind::kOperator);
  EXPECT_EQ(kind("Node@launch"), SpanKind::kLaunch);
  EXPECT_EQ(kind("aclnnMatmul_MatMulV2_MatMulV2"), SpanKind::kKernel);
  EXPECT_EQ(kind("EVENT_WAIT"), SpanKind::kSync);
  EXPECT_EQ(kind("MEMCPY_ASYNC"), SpanKind::kCopy);
  EXPECT_EQ(kind("hcom_allReduce__112_0_1"), SpanKind::kCommunication);
  EXPECT_EQ(kind("Notify_Wait"), SpanKind::kGpuAnnotation);
  EXPECT_EQ(kind("Computing"), SpanKind::kGpuAnnotation);
  const TraceSpan& kernel = *spans.at("aclnnMatmul_MatMulV2_MatMulV2");
  EXPECT_EQ(kernel.correlation, 77u);
  EXPECT_EQ(kernel.step, 0) << "that of its launch";
  EXPECT_EQ(trace.tracks[kernel.track].device, 0);
  EXPECT_EQ(trace.tracks[kernel.track].stream, 2);
  EXPECT_EQ(trace.tracks[spans.at("hcom_allReduce__112_0_1")->track].device, 0);
  EXPECT_TRUE(trace.has_base);
}

TEST(NanosecondsOf, IsExactToTheNanosecond) {
  EXPECT_EQ(NanosecondsOf("4908189192799.845"), 4'908'189'192'799'845);
  EXPECT_EQ(NanosecondsOf("1790857026000000.001"), 1'790'857'026'000'000'001);
  EXPECT_EQ(NanosecondsOf("-2.5"), -2'500);
  EXPECT_EQ(NanosecondsOf("7"), 7'000);
  EXPECT_EQ(NanosecondsOf("0.0019999"), 1);
  EXPECT_EQ(NanosecondsOf("1e3"), 1'000'000);
  for (const char* const none : {"", "-", "NaN", "inf", "1e300", "12x", "."}) {
    EXPECT_EQ(NanosecondsOf(none), std::nullopt) << none;
  }
}

TEST(RealTraces, AreReadWithoutAFault) {
  const auto folder = RealTraces("torch-cpu");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "there are no real traces here";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const Trace trace = Converted(FileText(entry.path()));
    EXPECT_GT(trace.spans.size(), 2000) << entry.path();
    EXPECT_THAT(trace.faults, IsEmpty()) << entry.path();
  }
}

}  // namespace
}  // namespace stepscope

// Profiles of TensorFlow and JAX, and timelines of the cloud debugger.

#include "core/trace/xplane.h"

#include <gtest/gtest.h>

#include <random>

#include "core/trace/convert.h"
#include "core/trace/protobuf.h"
#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string Number(int field, std::uint64_t value) {
  return Varint(std::uint64_t(field) << 3) + Varint(value);
}
std::string Bytes(int field, const std::string& bytes) {
  return Varint(std::uint64_t(field) << 3 | 2) + Varint(bytes.size()) + bytes;
}
std::string Entry(int field, std::uint64_t key, const std::string& name) {
  return Bytes(field, Number(1, key) + Bytes(2, Number(1, key) + Bytes(2, name)));
}
std::string Stat(std::uint64_t id, std::uint64_t value) {
  return Bytes(4, Number(1, id) + Number(4, value));
}
std::string Event(std::uint64_t name, std::uint64_t offset_ps, std::uint64_t duration_ps,
                  const std::string& stats = "") {
  return Bytes(4, Number(1, name) + Number(2, offset_ps) + Number(3, duration_ps) + stats);
}
std::string Line(std::uint64_t id, const std::string& name, std::uint64_t at_ns,
                 const std::string& events) {
  return Bytes(3, Number(1, id) + Bytes(2, name) + Number(3, at_ns) + events);
}
constexpr std::uint64_t kAtNs = 1'795'000'000'000'000'000;

// Two steps of 1 ms of a host, and a stream of a GPU with a kernel and a copy.
std::string Space() {
  const std::string host =
      Number(1, 1) + Bytes(2, "/host:CPU") +
      Line(7, "python", kAtNs,
           Event(1, 0, 1'000'000'000, Stat(9, 3)) +
               Event(1, 1'000'000'000, 1'000'000'000, Stat(9, 4)) + Event(2, 100'000, 500'000) +
               Event(3, 200'000'000, 5'000'000, Stat(8, 77)) + Event(4, 210'000'000, 5'000'000)) +
      Entry(4, 1, "train") + Entry(4, 2, "$train.py:12 step") + Entry(4, 3, "cuLaunchKernel") +
      Entry(4, 4, "PjitFunction(\"f\")") + Entry(5, 8, "correlation_id") + Entry(5, 9, "step_num");
  const std::string device =
      Bytes(2, "/device:GPU:1") +
      Line(13, "Stream #13(Compute)", kAtNs, Event(1, 300'000'000, 40'000'000, Stat(2, 77))) +
      Line(14, "Stream #14(MemcpyH2D)", kAtNs, Event(2, 400'000'000, 10'000'000)) +
      Line(15, "XLA Modules", kAtNs, Event(3, 300'000'000, 150'000'000)) +
      Entry(4, 1, "fusion_12") + Entry(4, 2, "MemcpyH2D") + Entry(4, 3, "jit_f") +
      Entry(5, 2, "correlation_id");
  return Bytes(1, host) + Bytes(1, device) + Bytes(4, "host-1");
}

const TraceSpan& Find(const Trace& trace, std::string_view name) {
  for (const TraceSpan& span : trace.spans) {
    if (trace.NameOf(span) == name) return span;
  }
  ADD_FAILURE() << name << " is not there";
  static const TraceSpan none{};
  return none;
}

TEST(XPlane, BecomesSpansWithStepsKernelsAndTheirLaunches) {
  const Trace trace = Converted(Space());
  EXPECT_TRUE(trace.faults.empty()) << trace.faults.begin()->first;
  EXPECT_EQ(trace.spans.size(), 8u);
  ASSERT_EQ(trace.steps.size(), 2u);
  EXPECT_EQ(trace.steps[0].number, 3);
  EXPECT_EQ(trace.steps[1].number, 4);
  EXPECT_EQ(trace.step_markers, StepMarkers::kProfiler);
  EXPECT_TRUE(trace.has_base);
  const TraceSpan& kernel = Find(trace, "fusion_12");
  EXPECT_EQ(kernel.kind, SpanKind::kKernel);
  EXPECT_EQ(kernel.duration_ns, 40'000);
  EXPECT_EQ(trace.base_ns + kernel.start_ns, std::int64_t(kAtNs) + 300'000);
  EXPECT_EQ(kernel.correlation, Find(trace, "cuLaunchKernel").correlation);
  EXPECT_EQ(Find(trace, "cuLaunchKernel").kind, SpanKind::kLaunch);
  EXPECT_EQ(trace.tracks[kernel.track].device, 1);
  EXPECT_EQ(trace.tracks[kernel.track].stream, 13);
  EXPECT_EQ(Find(trace, "MemcpyH2D").kind, SpanKind::kCopy);
  EXPECT_EQ(Find(trace, "jit_f").kind, SpanKind::kGpuAnnotation) << "a line that is derived";
  EXPECT_EQ(Find(trace, "$train.py:12 step").kind, SpanKind::kPython);
  EXPECT_EQ(Find(trace, "PjitFunction(\"f\")").kind, SpanKind::kOperator);
}

// Work of a TPU has no number of a launch: the device marks its steps itself, from 0 on.
TEST(XPlane, WorkOfATpuIsInTheStepsOfItsDevice) {
  const std::string host =
      Number(1, 1) + Bytes(2, "/host:CPU") +
      Line(7, "python", kAtNs,
           Event(1, 0, 1'000'000, Stat(9, 30)) + Event(1, 1'000'000, 1'000'000, Stat(9, 31))) +
      Entry(4, 1, "train") + Entry(5, 9, "step_num");
  const auto device = [](std::uint64_t first_ps) {
    return Bytes(2, "/device:TPU:0") +
           Line(1, "Steps", kAtNs,
                Event(1, first_ps, 900'000'000) + Event(2, first_ps + 900'000'000, 900'000'000)) +
           Line(2, "XLA Ops", kAtNs,
                Event(3, first_ps + 10'000'000, 500'000'000) +
                    Event(4, first_ps + 600'000'000, 200'000'000) +
                    Event(3, first_ps + 910'000'000, 500'000'000)) +
           Entry(4, 1, "0") + Entry(4, 2, "1") + Entry(4, 3, "fusion.1") +
           Entry(4, 4, "all-reduce.2");
  };
  const Trace trace = Converted(Bytes(1, host) + Bytes(1, device(5'000'000)));
  ASSERT_EQ(trace.steps.size(), 2u);
  std::vector<std::int32_t> steps;
  for (const TraceSpan& span : trace.spans) {
    if (IsDeviceWork(span.kind)) steps.push_back(span.step);
  }
  EXPECT_EQ(steps, (std::vector<std::int32_t>{0, 0, 1})) << "though the host was far ahead";
  EXPECT_EQ(Find(trace, "all-reduce.2").kind, SpanKind::kCommunication);
  const Trace before = Converted(Bytes(1, host) + Bytes(1, device(0)));
  EXPECT_EQ(Find(before, "fusion.1").step, 0) << "a step may begin with the host's";
}

TEST(XPlane, IsToldFromJson) {
  EXPECT_TRUE(IsXPlane(Space().substr(0, kXPlaneHead)));
  for (const char* json : {"\n{\n  \"schemaVersion\"", "{\"traceEvents\"", "\n[", "", "\n",
                           "\n\n\n  {", "\n\t{\"a\"", "\n\r\n{"}) {
    EXPECT_FALSE(IsXPlane(json)) << json;
  }
}

TEST(XPlane, WhatIsAbsurdIsCounted) {
  const std::string plane = Bytes(2, "/host:CPU") +
                            Line(1, "far", 9'223'372'036'854'775'807ull, Event(1, 0, 5)) +
                            Line(2, "near", kAtNs,
                                 Event(1, ~0ull, 5) + Event(1, 5'000'000, ~0ull) +
                                     Bytes(4, Number(1, 1) + Number(5, 17)) + Bytes(4, "\xff\xff") +
                                     Event(99, 5'000'000, 1'000));
  const Trace trace = Converted(Bytes(1, plane) + Bytes(1, "\x12\x7f"));
  EXPECT_EQ(trace.faults.at("bad_start"), 1u) << "the line";
  EXPECT_EQ(trace.faults.at("bad_duration"), 1u);
  EXPECT_GE(trace.faults.at("broken_event"), 1u);
  EXPECT_GE(trace.faults.at("broken_member"), 1u);
  EXPECT_EQ(trace.faults.at("no_name"), 2u);
  EXPECT_EQ(trace.spans.size(), 2u) << "an offset of -1 ps is within the rounding";
}

TEST(XPlane, AFileThatBreaksOffGivesWhatThereIs) {
  const std::string space = Space();
  const Trace half = Converted(space.substr(0, space.size() / 2));
  EXPECT_TRUE(half.faults.contains("truncated"));
  for (std::size_t length = 0; length < space.size(); ++length) {
    const Trace trace = Converted(space.substr(0, length));
    EXPECT_LE(trace.spans.size(), 8u);
  }
}

TEST(XPlane, MutantsAreReadToTheirEnd) {
  std::mt19937_64 random(5);
  const std::string space = Space();
  for (int round = 0; round < 3'000; ++round) {
    std::string mutant = space;
    for (auto changes = random() % 8 + 1; changes > 0; --changes) {
      mutant[random() % mutant.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) mutant.insert(random() % mutant.size(), space.substr(random() % 99, 50));
    EXPECT_LE(Converted(mutant).spans.size(), 60u);
  }
}

TEST(XPlane, ALongLineIsWrittenPieceByPiece) {
  std::string events;
  for (std::uint64_t i = 0; i < 50'000; ++i) events += Event(1, i * 2'000'000, 1'000'000);
  const std::string plane =
      Bytes(2, "/device:TPU:0") + Line(2, "XLA Ops", kAtNs, events) + Entry(4, 1, "dot.3");
  const Trace trace = Converted(Bytes(1, plane));
  EXPECT_EQ(trace.spans.size(), 50'000u);
  EXPECT_TRUE(trace.faults.empty());
  EXPECT_EQ(trace.spans[7].kind, SpanKind::kKernel);
}

TEST(ChromeTraceOfTensorFlow, HasKindsByThePlace) {
  const Trace trace = Converted(R"json({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},
    "traceEvents":[{"ph":"M","pid":49,"name":"process_name","args":{"name":"/host:CPU"}},
    {"ph":"M","pid":2,"name":"process_name","args":{"name":"/device:GPU:0"}},
    {"ph":"M","pid":2,"tid":5,"name":"thread_name","args":{"name":"Stream #5(Compute)"}},
    {"ph":"M","pid":2,"tid":6,"name":"thread_name","args":{"name":"Steps"}},
    {"pid":49,"tid":1,"ts":10,"name":"train","ph":"X","dur":500,"args":{"step_num":"12","_r":"1"}},
    {"pid":49,"tid":1,"ts":20,"name":"model/dense/MatMul","ph":"X","dur":30},
    {"pid":2,"tid":5,"ts":60,"name":"ncclDevKernel_AllReduce","ph":"X","dur":9},
    {"pid":2,"tid":5,"ts":80,"name":"volta_sgemm","ph":"X","dur":9,"args":{"correlation_id":4}},
    {"pid":2,"tid":6,"ts":60,"name":"12","ph":"X","dur":90}]})json");
  ASSERT_EQ(trace.steps.size(), 1u);
  EXPECT_EQ(trace.steps[0].number, 12);
  EXPECT_EQ(Find(trace, "model/dense/MatMul").kind, SpanKind::kOperator);
  EXPECT_EQ(Find(trace, "ncclDevKernel_AllReduce").kind, SpanKind::kCommunication);
  EXPECT_EQ(Find(trace, "volta_sgemm").correlation, 4u);
  EXPECT_EQ(Find(trace, "12").kind, SpanKind::kGpuAnnotation);
  EXPECT_EQ(trace.tracks[Find(trace, "volta_sgemm").track].device, 0);
}

TEST(CloudDebuggerTimeline, HasItsOwnZeroAndSteps) {
  const Trace trace = Converted(R"([
    {"name":"process_name","ph":"M","pid":0,"args":{"start_time_since_epoch_in_micros": 1594662605425850}},
    {"name":"process_name","ph":"M","pid":1,"args":{"name":"Step:ModeKeys.TRAIN"}},
    {"name":"Step:ModeKeys.TRAIN","pid":1,"ph":"X","ts":100,"dur":50,"args":{"pid":905,"step_num":"0"}},
    {"name":"Step:ModeKeys.TRAIN","pid":1,"ph":"X","ts":150,"dur":60,"args":{"pid":905,"step_num":"1"}},
    {"name":"dataset::GetNext","ph":"X","pid":2,"ts":110,"dur":9}])");
  EXPECT_EQ(trace.base_ns, 1'594'662'605'425'950'000) << "the first span's";
  EXPECT_TRUE(trace.has_base);
  ASSERT_EQ(trace.steps.size(), 2u);
  EXPECT_EQ(trace.steps[1].number, 1);
  EXPECT_EQ(trace.steps[1].end_ns - trace.steps[1].start_ns, 60'000);
  EXPECT_EQ(Find(trace, "dataset::GetNext").kind, SpanKind::kAnnotation);
}

TEST(RealFiles, OfTensorFlowAndTheCloudDebuggerAreRead) {
  const auto folder = RealTraces("cloud-debugger/tests/profiler/resources");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "there are no real traces here";
  std::size_t files = 0, spans = 0, steps = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    const bool wanted = name.ends_with("timeline.json") || name.ends_with(".trace.json.gz");
    if (!wanted || name.find("horovod") != std::string::npos) continue;
    const Trace trace = Converted(FileText(entry.path()));
    EXPECT_FALSE(trace.spans.empty()) << name;
    for (const auto& [fault, count] : trace.faults) {
      EXPECT_TRUE(fault == "duplicate" || fault == "no_phase" || fault == "overlapping_steps" ||
                  fault == "no_duration")
          << name << " " << fault << " " << count;
    }
    ++files, spans += trace.spans.size(), steps += trace.steps.size();
  }
  EXPECT_GE(files, 10u);
  EXPECT_GE(steps, 5u);
  std::cerr << files << " files, " << spans << " spans, " << steps << " steps\n";
}

}  // namespace
}  // namespace stepscope

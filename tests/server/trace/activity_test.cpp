// Launches, copies, communication, memory and precision of small made traces.

#include <gtest/gtest.h>

#include "server/trace/communication.h"
#include "server/trace/copies.h"
#include "server/trace/launches.h"
#include "server/trace/memory.h"
#include "server/trace/precision.h"
#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

MadeEvent Call(const char* name, double start, double duration, int correlation) {
  return {
      "cuda_runtime", name, "1", "1", start, duration, Format("\"correlation\": {}", correlation)};
}
MadeEvent Work(const char* category, const char* name, double start, double duration,
               const std::string& args) {
  return {category, name, "0", "7", start, duration, "\"device\": 0, " + args};
}

TEST(Launches, CountDelaysGraphsAndWhatNobodyLaunched) {
  const Trace trace = Converted({
      Call("cudaLaunchKernel", 10, 2, 1),
      Work("kernel", "a", 30, 5, "\"correlation\": 1"),
      Call("cudaGraphLaunch", 40, 10, 2),
      Work("kernel", "b", 100, 50, "\"correlation\": 2"),
      Work("kernel", "c", 160, 50, "\"correlation\": 2"),
      Work("kernel", "d", 220, 1, "\"correlation\": 99"),
      Call("cudaStreamSynchronize", 60, 170, 3),
  });
  const LaunchTable table = MakeLaunchTable(TraceLinks(trace));
  EXPECT_EQ(table.kernels, 4);
  EXPECT_EQ(table.short_kernels, 2);
  EXPECT_EQ(table.unlinked, 1);
  EXPECT_EQ(table.graph_launches, 1);
  EXPECT_EQ(table.in_graphs, 2);
  EXPECT_EQ(table.delays_ns, (std::vector<std::int64_t>{20'000, 60'000, 120'000}));
  EXPECT_DOUBLE_EQ(QuantileOf(table.delays_ns, 0.5), 60'000);
  EXPECT_EQ(table.sync_ns, 170'000);
  EXPECT_EQ(table.calls.front().name, "cudaStreamSynchronize");
  const OrderedJson json = ToJson(table);
  EXPECT_EQ(json["graph_share"], 0.5);
  std::int64_t counted = 0;
  for (const OrderedJson& bin : json["delays"]) counted += bin["kernels"].get<std::int64_t>();
  EXPECT_EQ(counted, 3);
}

TEST(Launches, OfNothingAreNothing) {
  const OrderedJson json = ToJson(MakeLaunchTable(TraceLinks(Converted(std::vector<MadeEvent>{}))));
  EXPECT_EQ(json["kernels"], 0);
  EXPECT_EQ(json["kernels_per_step"], nullptr);
  EXPECT_EQ(json["delay_seconds"]["p50"], 0);
}

TEST(Copies, HaveBytesRatesAndWhatIsHidden) {
  const Trace trace = Converted({
      {"cpu_op", "aten::copy_", "1", "1", 0, 50, "\"External id\": 4"},
      Work("kernel", "a", 100, 50, ""),
      Work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 120, 50,
           "\"bytes\": 5000, \"External id\": 4"),
      Work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 200, 50, "\"External id\": 4"),
      Work("gpu_memset", "Memset (Device)", 300, 10, "\"bytes\": 64"),
  });
  const auto rows = MakeCopyTable(TraceLinks(trace));
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].bytes, 5000);
  EXPECT_EQ(rows[0].total_ns, 100'000);
  EXPECT_EQ(rows[0].exposed_ns, 70'000);
  EXPECT_EQ(rows[0].launched_by, "aten::copy_");
  const OrderedJson json = ToJson(rows);
  EXPECT_EQ(json["copies"][0]["direction"], "HtoD");
  EXPECT_EQ(json["copies"][0]["host_memory"], "pinned");
  EXPECT_EQ(json["copies"][0]["bytes_per_second"], 1e8);  // one call says its bytes
  EXPECT_EQ(json["copies"][1]["direction"], "set");
}

TEST(Copies, OfAmdHaveTheirSizeAtTheCall) {
  const Trace trace = Converted({
      {"hip_runtime", "hipMemcpyWithStream", "1", "1", 10, 5, "\"correlation\": 4, \"size\": 8192"},
      {"gpu_memcpy", "CopyHostToDevice", "2", "0", 20, 10, "\"correlation\": 4, \"device\": 2"},
  });
  const auto rows = MakeCopyTable(TraceLinks(trace));
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].bytes, 8192);
  EXPECT_EQ(ToJson(rows)["copies"][0]["direction"], "HtoD");
}

TEST(Communication, HasBytesBusRateAndWhatIsExposed) {
  const std::string args =
      "\"Collective name\": \"allreduce\", \"In msg nelems\": 1000, \"Out msg nelems\": 1000, "
      "\"Group size\": 4, \"dtype\": \"Float\", \"Process Group Name\": \"0\"";
  const Trace trace = Converted({
      Work("kernel", "gemm", 100, 30, ""),
      {"kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "0", "13", 120, 40,
       "\"device\": 0, " + args},
      {"user_annotation", "gloo:all_reduce", "1", "2", 500, 20},
  });
  const auto rows = MakeCollectiveTable(TraceLinks(trace));
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].name, "allreduce");
  EXPECT_EQ(rows[0].group_size, 4);
  EXPECT_EQ(rows[0].bytes, 4000);
  EXPECT_EQ(rows[0].exposed_ns, 30'000);
  EXPECT_FALSE(rows[1].on_device);
  const OrderedJson json = ToJson(rows);
  EXPECT_EQ(json["collectives"][0]["bytes_per_second"], 1e8);
  EXPECT_EQ(json["collectives"][0]["bus_bytes_per_second"], 1.5e8);
  EXPECT_EQ(json["collectives"][1]["bytes"], nullptr);
}

TEST(Communication, KnowsTheFactorsOfTheBus) {
  EXPECT_DOUBLE_EQ(BusFactor("allreduce", 8), 1.75);
  EXPECT_DOUBLE_EQ(BusFactor("_allgather_base", 8), 0.875);
  EXPECT_DOUBLE_EQ(BusFactor("reduce_scatter", 2), 0.5);
  EXPECT_DOUBLE_EQ(BusFactor("broadcast", 8), 1);
  EXPECT_DOUBLE_EQ(BusFactor("allreduce", 1), 1);
  EXPECT_EQ(ElementBytes("BFloat16"), 2);
  EXPECT_EQ(ElementBytes("mystery"), 0);
}

std::string Memory(double at, std::int64_t bytes, std::int64_t allocated) {
  return Format(
      "{{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"pid\": 1, "
      "\"tid\": 1, "
      "\"ts\": {}, \"args\": {{\"Bytes\": {}, \"Total Allocated\": {}, \"Total Reserved\": 9000, "
      "\"Device Type\": 1, \"Device Id\": 0}}}}",
      at, bytes, allocated);
}

TEST(Memory, HasItsPeakAndWhoMadeIt) {
  const Trace trace = Converted(TraceText(std::vector<std::string>{
      ToText(MadeEvent{"cpu_op", "aten::conv2d", "1", "1", 10, 100}),
      ToText(MadeEvent{"cpu_op", "aten::empty", "1", "1", 20, 10}), Memory(25, 4096, 4096),
      Memory(50, 1024, 5120), Memory(90, -4096, 1024), Memory(200, 100, 1124)}));
  const auto memory = MakeMemory(TraceLinks(trace));
  ASSERT_EQ(memory.size(), 1);
  EXPECT_EQ(memory[0].device, 0);
  EXPECT_EQ(memory[0].allocations, 3);
  EXPECT_EQ(memory[0].frees, 1);
  EXPECT_EQ(memory[0].peak_allocated, 5120);
  EXPECT_EQ(memory[0].peak_operator, "aten::conv2d");
  EXPECT_EQ(memory[0].peak_reserved, 9000);
  ASSERT_EQ(memory[0].largest.size(), 3);
  EXPECT_EQ(memory[0].largest[0].operator_name, "aten::empty");
  EXPECT_EQ(memory[0].largest[2].operator_name, "");
  EXPECT_EQ(memory[0].curve.size(), 4);
}

TEST(Memory, HasACurveOfABoundedLength) {
  std::vector<std::string> events;
  for (int i = 0; i < 20'000; ++i) events.push_back(Memory(i, 10, 10 * (i % 777)));
  const auto memory = MakeMemory(TraceLinks(Converted(TraceText(events))));
  EXPECT_LE(memory[0].curve.size(), kCurvePoints + 1);
  EXPECT_EQ(memory[0].largest.size(), kLargest);
}

TEST(Precision, AddsUpByTypeAndLeavesTheUnknown) {
  const Trace trace = Converted({
      Work("kernel", "sm80_xmma_gemm_bf16bf16_bf16f32_f32", 100, 30, ""),
      Work("kernel", "mystery", 200, 10, ""),
      Work("kernel", "ncclDevKernel_AllReduce_Sum_f32", 300, 90, ""),
  });
  const auto rows = MakePrecisionTable(TraceLinks(trace));
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].precision, "BF16");
  EXPECT_TRUE(rows[0].tensor_cores);
  const OrderedJson json = ToJson(rows);
  EXPECT_EQ(json["precisions"][0]["share"], 0.75);
  EXPECT_EQ(json["precisions"][1]["precision"], nullptr);
}

}  // namespace
}  // namespace stepscope

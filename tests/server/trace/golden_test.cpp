// Real traces against sums that another program made of them (golden.jsonl), to the microsecond.

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "core/base/json.h"
#include "server/trace/breakdown.h"
#include "server/trace/copies.h"
#include "server/trace/evidence.h"
#include "server/trace/kernels.h"
#include "server/trace/launches.h"
#include "server/trace/operators.h"
#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

struct GoldenTrace {
  Json golden;
  Trace trace;
};

const std::vector<GoldenTrace>& GoldenTraces() {
  static const std::vector<GoldenTrace> all = [] {
    std::vector<GoldenTrace> traces;
    const auto folder = RealTraces("gpu-h100/traces");
    std::istringstream lines(FileText(folder / "golden.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const Json golden = *ParseJson(line);
      traces.push_back({golden, Converted(FileText(folder / golden["trace"].get<std::string>()))});
    }
    return traces;
  }();
  return all;
}

double Us(std::int64_t ns) {
  return double(ns) / 1000;
}

class Golden : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GoldenTraces().empty()) GTEST_SKIP() << "there are no real traces here";
  }
};

TEST_F(Golden, FilesAreReadWithoutAFault) {
  for (const auto& [golden, trace] : GoldenTraces()) {
    EXPECT_TRUE(trace.faults.empty()) << golden["trace"];
    EXPECT_GE(trace.steps.size(), 7) << golden["trace"];
  }
}

// The trainings' bottlenecks are known: each script had one built in.
TEST_F(Golden, EvidenceNamesTheBottleneck) {
  std::map<std::string, std::string> largest;
  std::map<std::string, OrderedJson> evidence_of;
  for (const auto& [golden, trace] : GoldenTraces()) {
    const OrderedJson evidence = EvidenceOf(TraceLinks(trace));
    EXPECT_EQ(evidence["of_device"], true);
    double total = 0, most = 0;
    for (const auto& [part, seconds] : evidence["seconds"].items()) {
      total += seconds.get<double>();
      const bool idle = part != "computing" && part != "exposed_communication";
      if (!idle || seconds.get<double>() <= most) continue;
      most = seconds.get<double>();
      largest[golden["trace"]] = most > 0.05 * evidence["wall_seconds"].get<double>() ? part : "";
    }
    EXPECT_NEAR(total, evidence["wall_seconds"].get<double>(), 1e-6) << golden["trace"];
    evidence_of[golden["trace"]] = evidence;
  }
  EXPECT_GT(evidence_of["device_to_host.json.gz"]["to_host_share"], 0.9);
  const OrderedJson& back = evidence_of["device_to_host.json.gz"]["seconds"];
  EXPECT_NEAR(back["exposed_copies"].get<double>(), 0.0886, 0.001);
  EXPECT_NEAR(back["host_sync"].get<double>(), 0.0621, 0.001);
  EXPECT_GT(evidence_of["host_to_device.json.gz"]["to_device_share"], 0.9);
  EXPECT_GT(evidence_of["small_batch.json.gz"]["short_kernel_share"], 0.5);
  EXPECT_EQ(largest["healthy.json.gz"], "");
  EXPECT_EQ(largest["small_batch.json.gz"], "host_late");
  EXPECT_EQ(largest["host_to_device.json.gz"], "exposed_copies");
  EXPECT_EQ(largest["preprocessing.json.gz"], "host_data");
}

TEST_F(Golden, KernelsAreMet) {
  for (const auto& [golden, trace] : GoldenTraces()) {
    const KernelTable table = MakeKernelTable(TraceLinks(trace));
    EXPECT_EQ(table.calls, golden["kernels"].get<std::uint64_t>());
    EXPECT_EQ(table.rows.size(), golden["kernel_names"].get<std::size_t>());
    EXPECT_EQ(table.short_calls, golden["kernels_below_10us"].get<std::uint64_t>());
    EXPECT_NEAR(Us(table.total_ns), golden["kernel_total_us"].get<double>(), 1);
    for (std::size_t i = 0; i < golden["top_kernels"].size(); ++i) {
      const Json& top = golden["top_kernels"][i];
      EXPECT_EQ(table.rows[i].name.substr(0, 90), top[0].get<std::string>());
      EXPECT_EQ(table.rows[i].calls, top[1].get<std::uint64_t>());
      EXPECT_NEAR(Us(table.rows[i].total_ns), top[2].get<double>(), 1);
    }
  }
}

TEST_F(Golden, TheTimeOfTheDeviceIsMet) {
  for (const auto& [golden, trace] : GoldenTraces()) {
    const auto devices = MakeBreakdown(TraceLinks(trace));
    ASSERT_EQ(devices.size(), 1);
    const BreakdownRow& total = devices[0].total;
    const auto part = [&](TimePart one) { return total.parts_ns[static_cast<std::size_t>(one)]; };
    EXPECT_NEAR(Us(total.range.length_ns()), golden["gpu_span_us"].get<double>(), 1);
    EXPECT_NEAR(Us(part(TimePart::kComputing)), golden["kernel_busy_us"].get<double>(), 1);
    EXPECT_NEAR(
        Us(part(TimePart::kComputing) + part(TimePart::kCommunication) + part(TimePart::kCopies)),
        golden["gpu_busy_us"].get<double>(), 1);
    std::int64_t sum = 0, steps = 0;
    for (const std::int64_t one : total.parts_ns) sum += one;
    EXPECT_EQ(sum, total.range.length_ns());
    for (const BreakdownRow& step : devices[0].steps) steps += step.range.length_ns();
    EXPECT_LE(steps, total.range.length_ns());
    EXPECT_GT(steps, total.range.length_ns() * 9 / 10) << golden["trace"];
  }
}

TEST_F(Golden, LaunchesAreMet) {
  for (const auto& [golden, trace] : GoldenTraces()) {
    const LaunchTable table = MakeLaunchTable(TraceLinks(trace));
    EXPECT_NEAR(QuantileOf(table.delays_ns, 0.5) / 1000,
                golden["launch_to_start_us_p50"].get<double>(), 1)
        << golden["trace"];
    EXPECT_NEAR(Us(table.sync_ns), golden["host_sync_us"].get<double>(), 1) << golden["trace"];
    EXPECT_NEAR(Us(table.copy_call_ns), golden["host_memcpy_call_us"].get<double>(), 1);
  }
}

TEST_F(Golden, CopiesAreMet) {
  for (const auto& [golden, trace] : GoldenTraces()) {
    std::size_t copies = 0;
    for (const CopyRow& row : MakeCopyTable(TraceLinks(trace))) {
      if (row.sets) continue;
      ++copies;
      EXPECT_NEAR(Us(row.total_ns), golden["memcpy_us"][row.name].get<double>(), 1) << row.name;
      EXPECT_EQ(row.bytes, golden["memcpy_bytes"][row.name].get<std::int64_t>()) << row.name;
    }
    EXPECT_EQ(copies, golden["memcpy_us"].size()) << golden["trace"];
  }
}

TEST_F(Golden, OperatorsHoldAllTimeOfTheDevice) {
  for (const auto& [golden, trace] : GoldenTraces()) {
    const OperatorTable table = MakeOperatorTable(TraceLinks(trace), false);
    std::int64_t device = 0;
    for (const TraceSpan& span : trace.spans)
      device += IsDeviceWork(span.kind) ? span.duration_ns : 0;
    EXPECT_EQ(table.device_self_ns + table.unlinked_ns, device);
    EXPECT_LT(table.unlinked_ns, device / 20) << golden["trace"];
  }
}

}  // namespace
}  // namespace stepscope

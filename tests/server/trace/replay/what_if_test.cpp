#include "server/trace/replay/what_if.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

const WhatIfRow& Row(const WhatIf& what_if, std::string_view change) {
  return *std::ranges::find(what_if.rows, change, &WhatIfRow::change);
}

TEST(WhatIf, HasARowForEachChangeAndForTheLongestKernels) {
  std::vector<MadeEvent> events = {{"user_annotation", "ProfilerStep#1", "1", "1", 0, 300}};
  for (int i = 1; i <= 8; ++i) {
    events.push_back({"kernel", Format("k{}", i), "0", "7", 30.0 * i, 2.0 * i, "\"device\": 0"});
  }
  for (int i = 1; i <= 8; ++i) {
    events.push_back({"cuda_runtime", "cudaLaunchKernel", "1", "1", 2.0 * i, 1,
                      Format("\"correlation\": {}", i)});
    events[std::size_t(i)].args += Format(", \"correlation\": {}", i);
  }
  const Trace trace = Converted(events);
  const WhatIf what_if = MakeWhatIf(TraceLinks(trace));
  EXPECT_TRUE(what_if.of_device);
  EXPECT_EQ(what_if.steps, 1);
  EXPECT_EQ(what_if.rows.size(), std::size(kWhatIfChanges) - 1 + kMostWhatIfKernels);
  EXPECT_EQ(Row(what_if, "kernel").kernel, "k8");
  for (const WhatIfRow& row : what_if.rows) {
    EXPECT_LE(row.best_ns, row.worst_ns) << row.change;
    EXPECT_LE(row.worst_ns, what_if.step_ns) << row.change;
    EXPECT_NE(std::ranges::find(kWhatIfChanges, row.change), std::end(kWhatIfChanges));
  }
  const OrderedJson json = ToJson(what_if);
  EXPECT_EQ(json["unknown"], nullptr);
  EXPECT_EQ(json["changes"][0]["worst_saved_share"], 0);
}

TEST(WhatIf, OfTheHostSaysWhatIsKnownToBeWaiting) {
  const Trace trace = Converted({
      {"user_annotation", "ProfilerStep#1", "1", "1", 0, 100},
      {"user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "1", "1",
       10, 40},
      {"cpu_op", "aten::mm", "1", "2", 30, 10},
      {"user_annotation", "gloo:all_reduce", "1", "3", 60, 20},
      {"cpu_op", "aten::add", "1", "1", 70, 30},
  });
  const WhatIf what_if = MakeWhatIf(TraceLinks(trace));
  EXPECT_FALSE(what_if.of_device);
  EXPECT_EQ(what_if.step_ns, 100'000);
  EXPECT_EQ(Row(what_if, "data").best_ns, 60'000);
  EXPECT_EQ(Row(what_if, "data").worst_ns, 70'000);
  EXPECT_EQ(Row(what_if, "communication").best_ns, 90'000);
  EXPECT_EQ(Row(what_if, "communication").worst_ns, 100'000);
}

TEST(WhatIf, IsUnknownWithoutSteps) {
  const Trace trace = Converted({{"kernel", "a", "0", "7", 1, 5, "\"device\": 0"}});
  EXPECT_NE(ToJson(MakeWhatIf(TraceLinks(trace)))["unknown"], nullptr);
  const Trace host = Converted({{"cpu_op", "a", "0", "7", 1, 5}});
  EXPECT_EQ(ToJson(MakeWhatIf(TraceLinks(host)))["unknown"], "there are no steps");
}

TEST(WhatIf, OfRealTracesNamesTheBottleneck) {
  const auto folder = RealTraces("gpu-h100/traces");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "there are no real traces here";
  std::map<std::string, std::map<std::string, double>> saved;
  for (const char* name : {"callback", "device_to_host", "healthy", "host_to_device",
                           "preprocessing", "small_batch"}) {
    const Trace trace = Converted(FileText(folder / Format("{}.json.gz", name)));
    const OrderedJson json = ToJson(MakeWhatIf(TraceLinks(trace)));
    for (const OrderedJson& row : json["changes"]) {
      EXPECT_GE(row["worst_saved_share"], 0) << name;
      if (row["kernel"].is_null()) saved[name][row["change"]] = row["worst_saved_share"];
    }
  }
  EXPECT_GT(saved["preprocessing"]["data"], 0.7);
  EXPECT_GT(saved["host_to_device"]["copies"], 0.85);
  EXPECT_GT(saved["small_batch"]["launches"], 0.8);
  EXPECT_GT(saved["small_batch"]["host"], 0.45);
  EXPECT_GT(saved["healthy"]["computing"], 0.4) << "though its host waits for room in the queue";
  EXPECT_LT(saved["healthy"]["launches"], 0.01);
  EXPECT_LT(saved["small_batch"]["computing"], 0.01);
}

}  // namespace
}  // namespace stepscope

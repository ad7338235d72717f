#include "server/trace/calls.h"

#include <gtest/gtest.h>

#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

const CallNode& Find(const CallTree& tree, std::string_view name) {
  return *std::ranges::find(tree.nodes, name, &CallNode::name);
}
std::int64_t Self(const CallNode& node) {
  return node.total_ns - node.inner_ns;
}

TEST(CallTree, AddsUpCallsOfTheSameNamesOverSteps) {
  std::vector<MadeEvent> events;
  for (int step = 0; step < 2; ++step) {
    const double at = 1'000.0 * step;
    const int id = 10 * step;
    events.push_back({"user_annotation", Format("ProfilerStep#{}", step), "1", "1", at, 900});
    events.push_back({"python_function", "train.py(3): main", "1", "1", at + 1, 800});
    events.push_back(
        {"cpu_op", "aten::linear", "1", "1", at + 10, 100, Format("\"External id\": {}", id + 1)});
    events.push_back(
        {"cpu_op", "aten::mm", "1", "1", at + 20, 50, Format("\"External id\": {}", id + 2)});
    events.push_back({"cuda_runtime", "cudaLaunchKernel", "1", "1", at + 30, 10,
                      Format("\"correlation\": {}", 100 + id)});
    events.push_back({"kernel", "sgemm", "0", "7", at + 200, 300,
                      Format("\"correlation\": {}, \"External id\": {}", 100 + id, id + 2)});
    events.push_back({"cpu_op", "aten::mm", "1", "2", at + 400, 20});
  }
  const Trace trace = Converted(events);
  const CallTree tree = MakeCallTree(TraceLinks(trace));
  ASSERT_EQ(tree.nodes.size(), 7u);
  EXPECT_EQ(tree.nodes[0].parent, -1);
  EXPECT_EQ(tree.nodes[0].name, "1 of 1");
  EXPECT_EQ(tree.nodes[0].total_ns, 1'600'000);
  EXPECT_EQ(tree.nodes[1].name, "train.py(3): main");
  EXPECT_EQ(tree.nodes[1].parent, 0);
  EXPECT_EQ(tree.nodes[1].calls, 2u);
  EXPECT_EQ(Self(tree.nodes[1]), 1'400'000);
  EXPECT_EQ(tree.nodes[1].device_total_ns, 600'000);
  EXPECT_EQ(tree.nodes[1].device_self_ns, 0);
  const CallNode& mm = Find(tree, "aten::mm");
  EXPECT_EQ(tree.nodes[std::size_t(mm.parent)].name, "aten::linear");
  EXPECT_EQ(mm.device_self_ns, 600'000);
  EXPECT_EQ(Self(mm), 80'000);
  EXPECT_EQ(Find(tree, "cudaLaunchKernel").total_ns, 20'000);
  EXPECT_EQ(tree.nodes[5].name, "2 of 1") << "the second thread";
  EXPECT_EQ(tree.nodes[6].total_ns, 40'000);
  const OrderedJson json = ToJson(tree);
  EXPECT_EQ(json["nodes"][0]["kind"], "thread");
  EXPECT_EQ(json["nodes"][0]["parent"], nullptr);
  EXPECT_EQ(json["nodes"][1]["kind"], "python");
}

TEST(CallTree, CutsWhatOverlapsItsParentsEnd) {
  const Trace trace =
      Converted({{"cpu_op", "a", "1", "1", 0, 100}, {"cpu_op", "b", "1", "1", 60, 100}});
  const CallTree tree = MakeCallTree(TraceLinks(trace));
  EXPECT_EQ(Find(tree, "b").total_ns, 40'000);
  EXPECT_EQ(Self(Find(tree, "a")), 60'000);
  EXPECT_EQ(tree.nodes[0].total_ns, 100'000);
}

TEST(CallTree, IsBoundedInDepthAndInLength) {
  std::vector<MadeEvent> events;
  for (int i = 0; i < 400; ++i)
    events.push_back({"cpu_op", "deep", "1", "1", double(i), 1'000.0 - 2 * i});
  for (int i = 0; i < 6'000; ++i) {
    events.push_back({"cpu_op", Format("wide {}", i), "1", "2", 10.0 * i, 1.0 + i % 7});
  }
  const Trace trace = Converted(events);
  const CallTree tree = MakeCallTree(TraceLinks(trace));
  EXPECT_EQ(tree.nodes.size(), kMostCallNodes);
  EXPECT_EQ(tree.not_told, 400 - kMostCallDepth);
  EXPECT_EQ(tree.left_out, 2 + kMostCallDepth + 6'000 - kMostCallNodes);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    ASSERT_LT(tree.nodes[i].parent, std::int64_t(i));
    ASSERT_GE(Self(tree.nodes[i]), 0);
  }
}

TEST(CallTree, OfNothingIsEmpty) {
  const Trace none = Converted(std::vector<MadeEvent>{});
  EXPECT_EQ(ToJson(MakeCallTree(TraceLinks(none)))["nodes"], OrderedJson::array());
}

TEST(CallTree, OfRealTracesHoldsAllTimeOfTheDevice) {
  const auto folder = RealTraces("gpu-h100/traces");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "there are no real traces here";
  const Trace trace = Converted(FileText(folder / "healthy.json.gz"));
  const CallTree tree = MakeCallTree(TraceLinks(trace));
  std::int64_t device_ns = 0, tree_ns = tree.unlinked_ns, host_ns = 0, self_ns = 0;
  for (const TraceSpan& span : trace.spans) {
    device_ns += IsDeviceWork(span.kind) ? span.duration_ns : 0;
  }
  for (const CallNode& node : tree.nodes) {
    tree_ns += node.device_self_ns;
    self_ns += Self(node);
    if (node.parent < 0) host_ns += node.total_ns, self_ns -= Self(node);
  }
  EXPECT_EQ(tree_ns, device_ns);
  EXPECT_EQ(self_ns, host_ns);
  EXPECT_EQ(tree.left_out, 0u);
}

}  // namespace
}  // namespace stepscope

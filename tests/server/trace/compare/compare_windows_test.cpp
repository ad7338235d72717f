#include "server/trace/compare/compare_windows.h"

#include <gtest/gtest.h>

#include "server/trace/breakdown.h"
#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

const ComparedRow* Find(const std::vector<ComparedRow>& rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &ComparedRow::name);
  return found == rows.end() ? nullptr : &*found;
}

StepTable Table(std::vector<StepTableRow> kernels) {
  return {{0.1, 0.1, 0.1}, std::move(kernels), {}};
}

TEST(CompareWindows, TellsWhatIsAddedGoneSlowerFasterAndTheSame) {
  const StepTable before = Table({{"slow", 1, {0.010, 0.011, 0.010}},
                                  {"fast", 1, {0.020, 0.020, 0.021}},
                                  {"gone", 2, {0.001, 0.001, 0.001}},
                                  {"noisy", 1, {0.010, 0.030, 0.020}},
                                  {"equal", 1, {0.005, 0.005, 0.005}}});
  const StepTable after = Table({{"slow", 1, {0.015, 0.016, 0.015}},
                                 {"fast", 1, {0.010, 0.011, 0.010}},
                                 {"new", 4, {0.002, 0.002, 0.002}},
                                 {"noisy", 1, {0.030, 0.012, 0.024}},
                                 {"equal", 1, {0.00501, 0.00501, 0.00501}}});
  const ComparedWindows compared = CompareWindows(before, after);
  EXPECT_EQ(compared.step.change, WindowChange::kSame);
  EXPECT_EQ(Find(compared.kernels, "slow")->change, WindowChange::kSlower);
  EXPECT_EQ(Find(compared.kernels, "fast")->change, WindowChange::kFaster);
  EXPECT_EQ(Find(compared.kernels, "gone")->change, WindowChange::kGone);
  EXPECT_EQ(Find(compared.kernels, "new")->change, WindowChange::kAdded);
  EXPECT_EQ(Find(compared.kernels, "noisy")->change, WindowChange::kUnsure);
  EXPECT_GT(*Find(compared.kernels, "noisy")->noise_s, 0.01);
  EXPECT_EQ(Find(compared.kernels, "equal")->change, WindowChange::kSame) << "0.2 % is nothing";
  EXPECT_EQ(compared.kernels.front().name, "fast") << "the largest difference";
  const OrderedJson json = ToJson(compared, 2);
  EXPECT_EQ(json["kernels"]["rows"].size(), 2u);
  EXPECT_EQ(json["kernels"]["counts"]["same"], 1);
  EXPECT_EQ(json["kernels"]["counts"]["unsure"], 1);
}

TEST(CompareWindows, NoiseHidesAChangeAndProvesNone) {
  const auto change = [](std::vector<double> before, std::vector<double> after) {
    return CompareWindows({std::move(before), {}, {}}, {std::move(after), {}, {}}).step.change;
  };
  EXPECT_EQ(change({0.05, 0.45, 0.09}, {0.054, 0.053, 0.055}), WindowChange::kUnsure)
      << "197 to 54 ms, with one step of 450";
  EXPECT_EQ(change({0.09, 0.45, 0.09, 0.1}, {0.054, 0.053, 0.055, 0.054}), WindowChange::kFaster)
      << "each of its steps is faster than each before";
  EXPECT_EQ(change({0.100, 0.101, 0.102}, {0.102, 0.103, 0.103}), WindowChange::kSame)
      << "noise of 2 % hides little";
}

TEST(CompareWindows, OneStepTellsOfNoNoise) {
  const StepTable one{{0.1}, {{"k", 1, {0.01}}}, {}}, other{{0.3}, {{"k", 1, {0.03}}}, {}};
  const ComparedWindows compared = CompareWindows(one, other);
  EXPECT_EQ(compared.step.change, WindowChange::kUnsure);
  EXPECT_EQ(compared.kernels[0].change, WindowChange::kUnsure);
  EXPECT_FALSE(compared.kernels[0].noise_s);
}

TEST(StepTable, HasTheStepsOfTheBreakdown) {
  const auto launch = [](double at, int id) {
    return MadeEvent{
        "cuda_runtime", "cudaLaunchKernel", "1", "1", at, 1, Format("\"correlation\": {}", id)};
  };
  const auto kernel = [](double at, double length, int id) {
    return MadeEvent{
        "kernel", "k", "0", "7", at, length, Format("\"correlation\": {}, \"device\": 0", id)};
  };
  const auto trace = Converted(
      TraceText(std::vector<MadeEvent>{{"user_annotation", "ProfilerStep#1", "1", "1", 0, 10},
                                       {"user_annotation", "ProfilerStep#2", "1", "1", 10, 10},
                                       launch(5, 1),
                                       launch(15, 2),
                                       kernel(100, 200, 1),
                                       kernel(310, 250, 2)}));
  const StepTable table = MakeStepTable(TraceLinks(trace));
  EXPECT_EQ(table.walls, (std::vector<double>{210e-6, 250e-6})) << "the host was ahead";
  const auto devices = MakeBreakdown(TraceLinks(trace));
  ASSERT_EQ(devices[0].steps.size(), table.walls.size());
  for (std::size_t i = 0; i < table.walls.size(); ++i) {
    EXPECT_DOUBLE_EQ(table.walls[i], double(devices[0].steps[i].range.length_ns()) / 1e9);
  }
}

TEST(StepTable, HasTheOwnTimeOfOperatorsByStep) {
  const auto trace = Converted(TraceText(std::vector<MadeEvent>{
      {"user_annotation", "ProfilerStep#1", "1", "1", 0, 100},
      {"user_annotation", "ProfilerStep#2", "1", "1", 100, 100},
      {"cpu_op", "aten::linear", "1", "1", 10, 50},
      {"cpu_op", "aten::addmm", "1", "1", 20, 30},
      {"cpu_op", "aten::linear", "1", "1", 110, 10},
      {"cpu_op", "aten::late", "1", "1", 300, 10},
  }));
  const StepTable table = MakeStepTable(TraceLinks(trace));
  ASSERT_EQ(table.walls.size(), 2u);
  ASSERT_EQ(table.operators.size(), 2u) << "what is outside of steps is left out";
  EXPECT_EQ(table.operators[0].name, "aten::addmm");
  EXPECT_EQ(table.operators[0].seconds, (std::vector<double>{30e-6, 0}));
  EXPECT_EQ(table.operators[1].seconds, (std::vector<double>{20e-6, 10e-6}));
  EXPECT_EQ(table.operators[1].calls, 1);
  const auto read = ReadStepTable(Dump(ToJson(table)));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->operators[1].seconds, table.operators[1].seconds);
  EXPECT_EQ(read->walls, table.walls);
  for (const char* wrong : {"", "[]", "7", "{\"walls\": 3, \"kernels\": [7, {\"name\": 1}]}"}) {
    const auto none = ReadStepTable(wrong);
    EXPECT_TRUE(!none.ok() || (none->walls.empty() && none->kernels.empty())) << wrong;
  }
}

}  // namespace
}  // namespace stepscope

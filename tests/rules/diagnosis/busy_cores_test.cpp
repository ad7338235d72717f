#include "rules/diagnosis/busy_cores.h"

#include <gtest/gtest.h>

#include "rules/diagnosis/diagnosis.h"

namespace stepscope {
namespace {

HostSums Node(double percent) {
  HostSums sums;
  sums.cpu_percent.Add(percent);
  return sums;
}

TEST(BusyCores, IsTheMeanOverCores) {
  BusyCores cores;
  cores.Add({.name = "a", .cores = 30}, Node(100), 1);
  cores.Add({.name = "b", .cores = 10, .cores_allowed = 10}, Node(20), 1);
  EXPECT_DOUBLE_EQ(cores.Part(), 0.8);
}

TEST(BusyCores, AreTheJobsOwnWhereItHasAPartOfTheNode) {
  HostSums sums = Node(100);  // of others, too
  sums.thread_percent.Add(50);
  sums.loaders.Add(6);
  sums.loader_percent.Add(25);
  const NodeFacts part{.name = "b", .cores = 30, .cores_allowed = 5};
  BusyCores cores;
  cores.Add(part, sums, 2);
  EXPECT_DOUBLE_EQ(cores.Part(), 0.5);
  sums.loader_percent.Add(100'000);
  cores.Add(part, sums, 2);
  EXPECT_DOUBLE_EQ(cores.Part(), 0.75) << "no more work than it has cores";
  cores.Add(part, Node(100), 2);
  EXPECT_EQ(cores.Part(), 0) << "nothing is known of its threads";
}

TEST(BusyCores, IsUnknownAsSoonAsThatOfANodeIs) {
  BusyCores unseen;
  unseen.Add({.name = "a", .cores = 30}, Node(100), 1);
  unseen.Add({.name = "b", .cores = 30}, HostSums(), 1);
  EXPECT_EQ(unseen.Part(), 0);
  EXPECT_EQ(BusyCores().Part(), 0);
}

Json Preprocessing(double cores_busy, bool gpus) {
  Diagnosis diagnosis;
  diagnosis.budget[Cause::kBusy] = 20;
  diagnosis.budget[Cause::kPreprocessing] = 80;
  diagnosis.cores_busy = cores_busy;
  diagnosis.gpus = gpus;
  return diagnosis.Evidence()["budget"][1];
}

TEST(BusyCores, BoundWhatPreprocessingGains) {
  EXPECT_DOUBLE_EQ(Preprocessing(0, false)["speed_up"], 5);
  EXPECT_DOUBLE_EQ(Preprocessing(0.1, false)["speed_up"], 5);
  EXPECT_DOUBLE_EQ(Preprocessing(0.5, false)["speed_up"], 2);
  EXPECT_DOUBLE_EQ(Preprocessing(1.5, false)["speed_up"], 1);
  EXPECT_DOUBLE_EQ(Preprocessing(0.95, true)["speed_up"], 5) << "a GPU could do it";
}

TEST(BusyCores, NobodyIsToldToFillFullCores) {
  const auto advice = [](double cores_busy, bool gpus) {
    return Preprocessing(cores_busy, gpus)["advice"].get<std::string>();
  };
  EXPECT_NE(advice(0.5, true).find("or use more data-loader workers"), std::string::npos);
  EXPECT_EQ(advice(0.95, true).find("use more data-loader"), std::string::npos);
  EXPECT_NE(advice(0.95, true).find("GPU"), std::string::npos);
  EXPECT_EQ(advice(0.95, false).find("GPU"), std::string::npos);
  EXPECT_EQ(advice(0.5, false).find("GPU"), std::string::npos);
}

}  // namespace
}  // namespace stepscope

#include "rules/diagnosis/busy_cores.h"

#include <gtest/gtest.h>

#include "rules/diagnosis/diagnosis.h"

namespace stepscope {
namespace {

SampleMean Percent(double value) {
  SampleMean mean;
  mean.Add(value);
  return mean;
}

TEST(BusyCores, IsTheMeanOverCores) {
  BusyCores cores;
  cores.Add({.name = "a", .cores = 30}, Percent(100));
  cores.Add({.name = "b", .cores = 10, .cores_allowed = 10}, Percent(20));
  EXPECT_DOUBLE_EQ(cores.Part(), 0.8);
}

TEST(BusyCores, IsUnknownWhereTheJobHasAPartOfTheNode) {
  BusyCores cores;
  cores.Add({.name = "a", .cores = 30}, Percent(100));
  cores.Add({.name = "b", .cores = 30, .cores_allowed = 4}, Percent(100));
  EXPECT_EQ(cores.Part(), 0);
  BusyCores unseen;
  unseen.Add({.name = "a", .cores = 30}, SampleMean());
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

#include "server/api/json_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/base/json.h"
#include "server/api/answer.h"

namespace stepscope {
namespace {

std::string Real(double value) {
  std::string text;
  AppendReal(text, value);
  return text;
}

TEST(JsonText, RealsHaveFourDecimalsAndNoNoise) {
  EXPECT_EQ(Real(0), "0");
  EXPECT_EQ(Real(-0.00001), "0");
  EXPECT_EQ(Real(12.5), "12.5");
  EXPECT_EQ(Real(-0.25), "-0.25");
  EXPECT_EQ(Real(41.27), "41.27");
  EXPECT_EQ(Real(99.99996), "100");
  EXPECT_EQ(Real(0.0001), "0.0001");
}

TEST(JsonText, WhatIsNoNumberOfJsonIsNull) {
  EXPECT_EQ(Real(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(Real(std::nan("")), "null");
}

// As the tree would have written it.
TEST(JsonText, RealsAreThoseOfRounded) {
  std::mt19937_64 dice(5);
  for (int i = 0; i < 100'000; ++i) {
    const int power = static_cast<int>(dice() % 40) - 12;
    const double value = (double(dice() % 2'000'001) - 1e6) * std::pow(10.0, power);
    const double read = Json::parse(Real(value)).get<double>();
    EXPECT_NEAR(read, Rounded(value), 1e-4 + std::abs(value) * 1e-15) << value;
  }
}

TEST(JsonText, MembersStandBehindThoseThatThereAre) {
  EXPECT_EQ(WithMembers("{}", {{"a", "[1]"}}), R"({"a":[1]})");
  EXPECT_EQ(WithMembers(R"({"b":1})", {{"a", "[]"}, {"c", "2"}}), R"({"b":1,"a":[],"c":2})");
}

}  // namespace
}  // namespace stepscope

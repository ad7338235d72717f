#include "server/api/http/json_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/base/json.h"
#include "server/api/http/answer.h"

namespace stepscope {
namespace {

std::string Real(double value) {
  std::string text;
  NumberList(text).Real(value);
  return text;
}

TEST(JsonText, RealsHaveFourDecimalsAndNoNoise) {
  EXPECT_EQ(Real(0), "0");
  EXPECT_EQ(Real(12.5), "12.5");
  EXPECT_EQ(Real(-0.25), "-0.25");
  EXPECT_EQ(Real(41.27), "41.27");
  EXPECT_EQ(Real(99.99996), "100");
  EXPECT_EQ(Real(0.0001), "0.0001");
}

TEST(JsonText, SmallRealsKeepTheirDigits) {
  EXPECT_EQ(Real(0.0003), "0.0003");
  EXPECT_EQ(Real(-0.0123456789), "-0.0123457");
  EXPECT_EQ(Real(0.09999999), "0.1");
  EXPECT_EQ(Json::parse(Real(2e-5)), Json(2e-5));
  EXPECT_EQ(Json::parse(Real(1e-9)), Json(1e-9));
  EXPECT_EQ(Real(-9e-10), "0") << "noise of a mean";
}

TEST(JsonText, WhatIsNoNumberOfJsonIsNull) {
  EXPECT_EQ(Real(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(Real(std::nan("")), "null");
}

// The text that a tree of JSON gives.
TEST(JsonText, RealsAreThoseOfRounded) {
  std::mt19937_64 dice(5);
  for (int i = 0; i < 100'000; ++i) {
    const int power = static_cast<int>(dice() % 40) - 12;
    const double value = (double(dice() % 2'000'001) - 1e6) * std::pow(10.0, power);
    const double read = Json::parse(Real(value)).get<double>();
    EXPECT_NEAR(read, Rounded(value), 1e-4 + std::abs(value) * 1e-15) << value;
  }
}

std::string Scaled(std::int64_t value, std::uint8_t scale) {
  std::string text;
  NumberList(text).Scaled(value, scale);
  return text;
}

TEST(JsonText, ScaledIntegersKeepEveryDigit) {
  EXPECT_EQ(Scaled(4127, 2), "41.27");
  EXPECT_EQ(Scaled(-5, 1), "-0.5");
  EXPECT_EQ(Scaled(0, 9), "0");
  EXPECT_EQ(Scaled(1, 9), "0.000000001");
  EXPECT_EQ(Scaled(-1'000'000, 6), "-1");
  EXPECT_EQ(Scaled(INT64_MAX, 0), "9223372036854775807");
  EXPECT_EQ(Scaled(INT64_MIN, 18), "-9.223372036854775808");
}

TEST(JsonText, IntegersOfEachLength) {
  std::mt19937_64 dice(6);
  for (int i = 0; i < 100'000; ++i) {
    const auto value = static_cast<std::int64_t>(dice()) >> (dice() % 64);
    ASSERT_EQ(Scaled(value, 0), std::to_string(value));
    std::string text;
    NumberList(text).Int(value);
    ASSERT_EQ(text, std::to_string(value));
  }
}

// Numbers of all lengths, so that each is at each position of the buffer's end once.
TEST(JsonText, ManyScaledIntegersAreThoseWrittenOneByOne) {
  std::mt19937_64 dice(8);
  for (const int digits : {0, 1, 2, 3, 4, 9, 18}) {
    const auto scale = static_cast<std::uint8_t>(digits);
    std::vector<std::int64_t> values(20'000);
    for (std::int64_t& value : values) {
      value = static_cast<std::int64_t>(dice()) >> (dice() % 64);
    }
    std::string text, expected;
    OpenList(text, "a");
    NumberList(text).Scaled(values, scale);
    for (const std::int64_t value : values) expected += ',' + Scaled(value, scale);
    expected[0] = '[';
    EXPECT_EQ(text, R"("a":)" + expected) << digits;
  }
}

// Text kept of the previous number must not show in the next.
TEST(JsonText, LargeIntegersThatShareTheirFirstDigits) {
  std::mt19937_64 dice(7);
  std::string text, expected;
  {
    NumberList numbers(text);
    for (int i = 0; i < 10'000; ++i) {
      const auto high = static_cast<std::int64_t>(dice() % 3) << (dice() % 36);
      const std::int64_t value =
          high * 100'000'000 + static_cast<std::int64_t>(dice() % 100'000'000);
      numbers.Int(value);
      expected += (i > 0 ? "," : "") + std::to_string(value);
    }
  }
  EXPECT_EQ(text, expected);
}

TEST(JsonText, ListsLongerThanTheirBufferLoseNothing) {
  std::string text, expected;
  OpenList(text, "a");
  {
    NumberList numbers(text);
    for (int i = 0; i < 5'000; ++i) numbers.Int(std::int64_t{i} * i * i * 1'000'003);
  }
  for (int i = 0; i < 5'000; ++i) {
    expected += (i > 0 ? "," : "") + std::to_string(std::int64_t{i} * i * i * 1'000'003);
  }
  EXPECT_EQ(text, R"("a":[)" + expected);
}

TEST(JsonText, ListsAndObjectsStandBehindWhatThereIs) {
  std::string text = R"({"b":1)";
  OpenList(text, "a");
  OpenObject(text, R"({"c":2})");
  OpenList(text, "d");
  text += "]}";
  OpenObject(text, "{}");
  OpenList(text, "e");
  {
    NumberList numbers(text);
    numbers.Int(1);
    numbers.Null();
    numbers.Real(0.5);
  }
  text += "]}]}";
  EXPECT_EQ(text, R"({"b":1,"a":[{"c":2,"d":[]},{"e":[1,null,0.5]}]})");
}

}  // namespace
}  // namespace stepscope

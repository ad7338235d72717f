#include "core/model/span_bins.h"

#include <gtest/gtest.h>

#include <random>

namespace stepscope {
namespace {

TEST(SpanBins, EachBeginsWhereTheOneBeforeEnds) {
  for (int bin = 0; bin < kSpanBins; ++bin) {
    EXPECT_EQ(SpanBinOf(SpanBinBegin(bin)), bin);
    EXPECT_EQ(SpanBinOf(SpanBinBegin(bin + 1) - 1), bin);
    EXPECT_LT(SpanBinBegin(bin), SpanBinBegin(bin + 1));
  }
}

TEST(SpanBins, AreAtMostAQuarterWide) {
  for (int bin = 1; bin + 1 < kSpanBins; ++bin) {
    const auto begin = double(SpanBinBegin(bin)), end = double(SpanBinBegin(bin + 1));
    EXPECT_LE(end, 1.25 * begin) << bin;
    EXPECT_GE(end, 1.14 * begin) << bin;
  }
}

TEST(SpanBins, AnyDurationIsInOne) {
  EXPECT_EQ(SpanBinOf(INT64_MIN), 0);
  EXPECT_EQ(SpanBinOf(0), 0);
  EXPECT_EQ(SpanBinOf(1'023), 0);
  EXPECT_EQ(SpanBinOf(1'024), 1);
  EXPECT_EQ(SpanBinOf(INT64_MAX), kSpanBins - 1);
  std::mt19937_64 dice(1);
  for (int i = 0; i < 10'000; ++i) {
    const auto ns = static_cast<std::int64_t>(dice() >> (1 + dice() % 63));
    const int bin = SpanBinOf(ns);
    EXPECT_LE(SpanBinBegin(bin), ns);
    if (bin + 1 < kSpanBins) {
      EXPECT_GT(SpanBinBegin(bin + 1), ns);
    }
  }
}

}  // namespace
}  // namespace stepscope

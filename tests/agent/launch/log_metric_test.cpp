#include "agent/launch/log_metric.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

namespace stepscope {
namespace {

std::optional<double> Read(std::string_view pattern, const std::string& line) {
  const auto parsed = LogPattern::Parse(pattern);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed ? parsed->Read(line) : std::nullopt;
}

TEST(LogPattern, ReadsWhatStandsInParentheses) {
  EXPECT_EQ(Read("t=samples/s: ([0-9.]+)", "step 3 samples/s: 41.5, loss 2"), 41.5);
  EXPECT_EQ(Read("lr=lr (\\d+e-\\d+)", "lr 3e-7"), 3e-7);
  EXPECT_EQ(Read("loss=loss=([^ ]+)", "loss=-1.25 x"), -1.25);
  EXPECT_EQ(Read("loss=loss=([^ ]+)", "loss=+2"), 2);
  EXPECT_EQ(Read("a=(x)|b=(1)", "b=1"), std::nullopt);
  for (const char* line :
       {"loss=nan", "loss=inf", "loss=1e999", "loss=1,5", "loss=", "acc=1", ""}) {
    EXPECT_EQ(Read("loss=loss=([^ ]*)", line), std::nullopt) << line;
  }
}

TEST(LogPattern, NamesWhatIsWrong) {
  for (const char* text : {"loss", "=(a)", "a b=(1)", "loss=(", "loss=[", "loss=no value",
                           "loss=(a)\\1", "loss/x=(1)"}) {
    EXPECT_FALSE(LogPattern::Parse(text).ok()) << text;
  }
  EXPECT_FALSE(LogPattern::Parse("a=(" + std::string(600, 'x') + ")").ok());
  EXPECT_FALSE(LogPattern::Parse(std::string(59, 'n') + "=(1)").ok());
}

struct LogMetricsTest : testing::Test {
  LogMetricsTest() {
    int ends[2];
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) std::abort();
    std::vector<LogPattern> patterns;
    patterns.push_back(std::move(*LogPattern::Parse("loss=loss ([^ ]+)")));
    patterns.push_back(std::move(*LogPattern::Parse("flops=flops ([^ ]+)")));
    metrics = std::make_unique<LogMetrics>(std::move(patterns), Descriptor(ends[0]));
    input = Descriptor(ends[1]);
  }
  void Say(std::string_view text) {
    ASSERT_EQ(write(input.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  double Tick(std::string_view metric) {
    row.Clear();
    EXPECT_TRUE(metrics->Collect({}, row).ok());
    return row.At(metric);
  }

  TickRow row;
  Descriptor input;
  std::unique_ptr<LogMetrics> metrics;
};

TEST_F(LogMetricsTest, GiveTheLastValueOfEachTick) {
  EXPECT_TRUE(std::isnan(Tick("user.loss")));
  EXPECT_EQ(row.size(), 0u);
  Say("loss 3\nloss 2.5\nother\nlo");
  EXPECT_EQ(Tick("user.loss"), 2.5);
  EXPECT_TRUE(std::isnan(Tick("user.loss")));
  Say("ss 0.000003\n");
  EXPECT_DOUBLE_EQ(Tick("user.loss"), 3e-6);
  EXPECT_EQ(row.size(), 1u);
}

TEST_F(LogMetricsTest, TakeValuesOfAnySize) {
  Say("flops 3.125e14\n");
  EXPECT_DOUBLE_EQ(Tick("user.flops"), 3.125e14);
  Say("flops 1e30\n");
  EXPECT_TRUE(std::isnan(Tick("user.flops")));
  Say(std::string(5000, 'x') + " loss 1\n");
  EXPECT_TRUE(std::isnan(Tick("user.loss")));
}

}  // namespace
}  // namespace stepscope

#include <optional>
#include <random>

#include "core/base/text.h"
#include "tests/server/api/charts/sampled_job.h"

namespace stepscope {
namespace {

class HeatmapTest : public SampledJobTest {
 protected:
  Json Ask(const std::string& query = "") {
    return service_.GetJson("/api/v1/jobs/mlp/heatmap?metric=user.a" + query);
  }
  static std::string BytesOf(const Json& answer) {
    return FromBase64(answer["matrix"].get<std::string>()).value();
  }
};

TEST_F(HeatmapTest, EachCellIsTheMeanOfItsBin) {
  std::mt19937 dice(4);
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(double(dice() % 10'000) / 100);
  Sample("n1", "0", kStartUs, values);
  const Json answer = Ask("&columns=50");
  const std::int64_t bin_us = answer["bin_us"];
  const double low = answer["low"], high = answer["high"];
  const std::string bytes = BytesOf(answer);
  ASSERT_EQ(bytes.size(), answer["times_us"].size());
  ASSERT_LE(bytes.size(), 51U);
  for (std::size_t column = 0; column < bytes.size(); ++column) {
    const std::int64_t begin_us = answer["times_us"][column];
    EXPECT_EQ(begin_us % bin_us, 0);
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t at_us = kStartUs + static_cast<std::int64_t>(i) * kTickUs;
      if (at_us < begin_us || at_us >= begin_us + bin_us) continue;
      sum += values[i];
      ++count;
    }
    const double shown = low + (high - low) * static_cast<unsigned char>(bytes[column]) / 254;
    EXPECT_NEAR(shown, sum / count, (high - low) / 508 + 1e-9) << column;
  }
}

TEST_F(HeatmapTest, WhereNothingWasMeasuredStands255) {
  Sample("n1", "0", kStartUs, {0, 100});
  Sample("n1", "0", kStartUs + 6 * kTickUs, {50});
  Sample("n2", "0", kStartUs + kTickUs, {100});
  const Json answer = Ask();
  EXPECT_EQ(BytesOf(answer),
            std::string("\x00\xfe\xff\xff\xff\xff\x7f\xff\xfe\xff\xff\xff\xff\xff", 14));
  EXPECT_EQ(answer["rows"], Json::parse(R"([{"node": "n1", "device": "0"},
                                            {"node": "n2", "device": "0"}])"));
}

// A tick that came late left its bin empty: the row goes on.
TEST_F(HeatmapTest, ALateTickIsNoGap) {
  Sample("n1", "0", kStartUs, {0});
  Sample("n1", "0", kStartUs + 2 * kTickUs, {100});
  EXPECT_EQ(BytesOf(Ask()), std::string("\x00\x00\xfe", 3));
}

TEST_F(HeatmapTest, RowsBeyondTheMostAreCounted) {
  for (const char* device : {"10", "9", "1"}) Sample("n1", device, kStartUs, {1});
  const Json answer = Ask("&rows=2");
  EXPECT_EQ(answer["left_out"], 1);
  ASSERT_EQ(answer["rows"].size(), 2U);
  EXPECT_EQ(answer["rows"][1]["device"], "9");
  EXPECT_EQ(BytesOf(answer).size(), 2U);
}

TEST_F(HeatmapTest, WrongQueriesAreRefusedByName) {
  for (const std::string query :
       {"", "?metric=nope", "?metric=user.a,user.b", "?metric=user.a&node=other",
        "?metric=user.a&columns=0", "?metric=user.a&columns=1001", "?metric=user.a&rows=0",
        "?metric=user.a&from_us=2&to_us=1", "?metric=user.a&bins=3"}) {
    const std::string answer = service_.Get("/api/v1/jobs/mlp/heatmap" + query);
    EXPECT_EQ(StatusOf(answer), 400) << query << answer;
    EXPECT_EQ(ApiService::JsonOf(answer)["code"], "invalid-parameter");
  }
}

TEST_F(HeatmapTest, AJobWithoutSamplesHasNoRows) {
  const Json answer = Ask();
  EXPECT_EQ(answer["rows"], Json::array());
  EXPECT_EQ(answer["matrix"], "");
}

}  // namespace
}  // namespace stepscope

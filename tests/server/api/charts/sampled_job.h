#pragma once

#include <string>
#include <vector>

#include "tests/server/api/api_test.h"

namespace stepscope {

// A job "mlp" that is given samples as a user posts them, 500 ms apart.
class SampledJobTest : public ApiTest {
 protected:
  static constexpr std::int64_t kTickUs = 500'000;
  struct Series {
    std::string metric, device;
    std::vector<double> values;  // one for each tick
  };
  SampledJobTest() { Create("mlp"); }

  void Sample(const std::string& node, std::int64_t from_us, std::size_t ticks,
              const std::vector<Series>& list) {
    Json times = Json::array(), series = Json::array();
    for (std::size_t i = 0; i < ticks; ++i) {
      times.push_back(from_us + static_cast<std::int64_t>(i) * kTickUs);
    }
    for (const Series& each : list) {
      series.push_back({{"metric", each.metric}, {"device", each.device}, {"values", each.values}});
    }
    const Json body = {{"node", node}, {"times_us", times}, {"series", series}};
    const std::string answer = service_.Post("/api/v1/jobs/mlp/samples", Dump(body));
    ASSERT_EQ(StatusOf(answer), 200) << answer;
  }
  // Stores user.a of a device.
  void Sample(const std::string& node, const std::string& device, std::int64_t from_us,
              const std::vector<double>& values) {
    Sample(node, from_us, values.size(), {{"user.a", device, values}});
  }
};

}  // namespace stepscope

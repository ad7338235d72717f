#include <algorithm>
#include <map>
#include <random>

#include "core/base/text.h"
#include "server/compact/compact_node.h"
#include "server/report/measure/usage_pool.h"
#include "server/report/measure/usage_table.h"
#include "server/store/jobs/jobs.h"
#include "tests/server/api/charts/sampled_job.h"

namespace stepscope {
namespace {

class UsageTest : public SampledJobTest {
 protected:
  void Sample(const std::string& node, std::size_t ticks, const std::vector<Series>& list) {
    SampledJobTest::Sample(node, kStartUs, ticks, list);
  }
  Json Ask(const std::string& query = "") {
    return service_.GetJson("/api/v1/jobs/mlp/usage" + query);
  }
  std::vector<double> Noise(std::size_t count) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(double(dice_() % 10'000) / 100);
    return values;
  }
  static void ExpectRow(const Json& row, std::vector<double> values) {
    std::ranges::sort(values);
    EXPECT_EQ(row["count"], values.size());
    EXPECT_DOUBLE_EQ(row["max"], values.back());
    EXPECT_DOUBLE_EQ(row["min"], values.front());
    for (const std::size_t share : {50U, 90U, 95U, 99U}) {
      EXPECT_DOUBLE_EQ(row["p" + std::to_string(share)],
                       values[(values.size() * share + 99) / 100 - 1])
          << share;
    }
  }
  // The table of rollups: as when there is no room for samples.
  UsageTable FromMeans() {
    const auto connection = service_.database().Connect();
    SeriesRange range;
    range.job = FindJob(*connection, "mlp").value();
    range.nodes = LoadJobHead(*connection, range.job.name).value().nodes;
    range.from_us = kStartUs;
    range.to_us = kStartUs + 1'200 * kTickUs;
    range.interval_us = kTickUs;
    const Result<UsageTable> table = ReadUsage(*connection, range, {.series = 9, .samples = 99});
    EXPECT_TRUE(table) << table.error().message;
    return table ? *table : UsageTable();
  }
  void Compact() {
    const auto connection = service_.database().Connect();
    const std::int64_t job_id = FindJob(*connection, "mlp")->job_id;
    for (const NodeRow& node : ListNodes(*connection, job_id).value()) {
      ASSERT_TRUE(CompactNode(*connection, job_id, node.node_id));
    }
  }

  std::mt19937 dice_{7};
};

TEST_F(UsageTest, PercentagesOfDevicesCountEachByItself) {
  const std::vector<double> one = Noise(300), other = Noise(300), cpu = Noise(300);
  Sample("n1", 300,
         {{"gpu_util_percent", "0", one},
          {"gpu_util_percent", "1", other},
          {"node_cpu_percent", "", cpu}});
  const Json answer = Ask();
  EXPECT_EQ(answer["of"], "samples");
  ASSERT_EQ(answer["rows"].size(), 2U);
  EXPECT_EQ(answer["rows"][0]["metric"], "node_cpu_percent");
  ExpectRow(answer["rows"][0], cpu);
  EXPECT_EQ(answer["rows"][1]["unit"], "%");
  std::vector<double> both = one;
  both.insert(both.end(), other.begin(), other.end());
  ExpectRow(answer["rows"][1], both);
}

TEST_F(UsageTest, RatesOfInterfacesAddUp) {
  Sample("n1", 3,
         {{"network_send_bytes_per_second", "eth0", {1, 2, 3}},
          {"network_send_bytes_per_second", "eth1", {30, 20, 10}}});
  ExpectRow(Ask()["rows"][0], {31, 22, 13});
}

TEST_F(UsageTest, OtherMetricsAndNodesAndTimesAreLeftOut) {
  Sample("n1", 2, {{"user.a", "", {1, 2}}, {"node_cpu_percent", "", {1, 2}}});
  Sample("n2", 2, {{"node_cpu_percent", "", {3, 4}}});
  EXPECT_EQ(Ask()["rows"].size(), 2U);
  ASSERT_EQ(Ask("?node=n2")["rows"].size(), 1U);
  ExpectRow(Ask("?node=n2")["rows"][0], {3, 4});
  ExpectRow(Ask("?to_us=" + std::to_string(kStartUs))["rows"][0], {1});
  EXPECT_EQ(Ask("?to_us=1&from_us=1")["rows"], Json::array());
}

TEST_F(UsageTest, LongJobsAreReadFromMeansWithTheTrueEnds) {
  const std::vector<double> values = Noise(1'200);
  Sample("n1", 1'200, {{"gpu_util_percent", "0", values}});
  const auto check = [&](const UsageTable& table) {
    EXPECT_EQ(table.of, "means of 10 s");
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(table.rows[0].max, std::ranges::max(values));
    EXPECT_EQ(table.rows[0].min, std::ranges::min(values));
    EXPECT_NEAR(double(table.rows[0].count), 60, 1);
    EXPECT_NEAR(table.rows[0].p50, 50, 5);  // means of 20 vary less than samples
    EXPECT_LT(table.rows[0].p99, 75);
  };
  check(FromMeans());
  Compact();
  check(FromMeans());
}

// Late samples and gaps: the sums are those of a map.
TEST(UsagePool, AddsUpDevicesWhoseTimesDifferInAnyOrderOfRuns) {
  std::mt19937 dice(3);
  UsagePool pool;
  std::map<std::int64_t, double> sums;
  for (int run = 0; run < 40; ++run) {
    if (run < 3) pool.BeginDevice();
    auto at_us = static_cast<std::int64_t>(dice() % 500);
    for (int i = 0; i < 50; ++i, at_us += static_cast<std::int64_t>(1 + dice() % 3)) {
      const auto value = static_cast<double>(dice() % 100);
      pool.Add(at_us, value, value, value);
      sums[at_us] += value;
    }
  }
  std::vector<double> values;
  for (const auto& [at_us, sum] : sums) values.push_back(sum);
  std::ranges::sort(values);
  const auto row = std::move(pool).Row("n1", "network_send_bytes_per_second");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->count, values.size());
  EXPECT_EQ(row->min, values.front());
  EXPECT_EQ(row->max, values.back());
  EXPECT_EQ(row->p50, values[(values.size() * 50 + 99) / 100 - 1]);
  EXPECT_EQ(row->p99, values[(values.size() * 99 + 99) / 100 - 1]);
}

// More than one statement reads, half of them compacted.
TEST_F(UsageTest, MeansOfManyNodesAreEachTheirOwn) {
  constexpr int kNodes = 20;
  const auto name = [](int node) { return "n" + std::to_string(100 + node); };
  for (int node = 0; node < kNodes; ++node) {
    if (node == kNodes / 2) Compact();
    Sample(name(node), 40, {{"node_cpu_percent", "", std::vector<double>(40, node)}});
  }
  const UsageTable table = FromMeans();
  ASSERT_EQ(table.rows.size(), std::size_t{kNodes});
  for (int node = 0; node < kNodes; ++node) {
    const UsageRow& row = table.rows[static_cast<std::size_t>(node)];
    EXPECT_EQ(row.node, name(node));
    EXPECT_EQ(row.p50, node);
    EXPECT_EQ(row.max, node);
    EXPECT_EQ(row.count, table.rows[0].count);
  }
}

TEST_F(UsageTest, RatesInMeansAddUpAlike) {
  std::vector<double> one(1'200, 5), other(1'200, 70);
  Sample("n1", 1'200,
         {{"network_receive_bytes_per_second", "eth0", one},
          {"network_receive_bytes_per_second", "eth1", other}});
  Compact();
  const UsageTable table = FromMeans();
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].min, 75);
  EXPECT_EQ(table.rows[0].max, 75);
}

TEST_F(UsageTest, WrongQueriesAreRefusedByName) {
  for (const std::string query : {"node=other", "from_us=2&to_us=1", "to_us=x", "metric=user.a"}) {
    ExpectProblem(service_.Get("/api/v1/jobs/mlp/usage?" + query), 400, "invalid-parameter");
  }
}

TEST_F(UsageTest, AJobWithoutSamplesHasNoRows) {
  EXPECT_EQ(Ask()["rows"], Json::array());
}

}  // namespace
}  // namespace stepscope

// A job that the service of the first slice stored still reads, as frames and as blocks.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "server/compact/compact_node.h"
#include "server/compact/compact_steps.h"
#include "server/store/jobs/jobs.h"
#include "server/store/schema/migrations.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

constexpr std::int64_t kTickUs = 500'000;

class FirstSliceTest : public ApiTest {
 protected:
  // The database is as it was then, and the service of today starts on it.
  FirstSliceTest() : connection_(service_.database().Connect()) {
    std::ifstream file(STEPSCOPE_SOURCE_DIR "/tests/server/api/first_slice.sql");
    std::stringstream recorded;
    recorded << file.rdbuf();
    for (const Status& done :
         {connection_->Execute("drop schema public cascade; create schema public"),
          Migrate(*connection_, Migrations().first(3)), connection_->Execute(recorded.str()),
          Migrate(*connection_)}) {
      EXPECT_TRUE(done) << done.error().message;
    }
  }

  void Compact() {
    const std::int64_t job_id = FindJob(*connection_, "first")->job_id;
    const std::int64_t node_id = ListNodes(*connection_, job_id)->front().node_id;
    const auto ticks = CompactNode(*connection_, job_id, node_id);
    ASSERT_TRUE(ticks) << ticks.error().message;
    const auto steps = CompactSteps(*connection_, job_id, {0});
    ASSERT_TRUE(steps) << steps.error().message;
    EXPECT_EQ(connection_->Query("select count(*) from frames")->Int(0, 0), 0);
    EXPECT_GT(connection_->Query("select count(*) from blocks")->Int(0, 0), 0);
    EXPECT_GT(connection_->Query("select count(*) from step_blocks")->Int(0, 0), 0);
  }
  Json Ask(const std::string& part) { return service_.GetJson("/api/v1/jobs/first" + part); }

  void ExpectJob() {
    const Json job = Ask("");
    EXPECT_EQ(job["status"], "Completed");
    EXPECT_EQ(job["group"], "tests");
    EXPECT_EQ(job["nodes"][0]["cores"], 2);
    EXPECT_EQ(job["ranks"][0]["framework"], "numpy");
    EXPECT_EQ(job["secondary_status_transitions"].size(), 3u);
    EXPECT_EQ(job["profiler_rule_evaluation_statuses"][1]["rule_evaluation_status"], "IssuesFound");
    EXPECT_EQ(job["profiler_rule_evaluation_statuses"].size(), 4u);
    EXPECT_EQ(Ask("/findings")["items"].size(), 1u);
  }
  void ExpectList() {
    const Json item = service_.GetJson("/api/v1/jobs")["items"][0];
    EXPECT_EQ(item["name"], "first");
    EXPECT_DOUBLE_EQ(item["median_step_seconds"], 0.14);
    // The mean from the first step to the last; that of all samples is 46.57.
    EXPECT_NEAR(item["mean_cpu_util_percent"].get<double>(), 46.67, 0.01);
    EXPECT_EQ(item["rules_in_trouble"], Json::array({"DataloaderBottleneck"}));
  }
  // Tick i had the value i * 3.7 % 100; the agent was silent from 50 to 54.
  void ExpectSamples() {
    const Json series = Ask("/metrics?metric=node_cpu_percent")["series"][0];
    int samples = 0;
    for (std::size_t i = 0; i < series["times_us"].size(); ++i) {
      if (series["mean"][i].is_null()) continue;
      const auto tick = (series["times_us"][i].get<std::int64_t>() - kStartUs) / kTickUs;
      EXPECT_DOUBLE_EQ(series["mean"][i], double(tick * 37 % 1000) / 10) << tick;
      ++samples;
    }
    EXPECT_EQ(samples, 115);
  }
  // The answer of the first slice's service.
  void ExpectBins() {
    const Json series = Ask("/metrics?metric=node_cpu_percent&points=6")["series"][0];
    const std::vector<double> means = {20.35, 59.55, 49.85, 33.1, 51.55, 60.55, 27.35};
    ASSERT_EQ(series["mean"].size(), means.size());
    for (std::size_t i = 0; i < means.size(); ++i) {
      EXPECT_NEAR(series["mean"][i].get<double>(), means[i], 2e-4) << i;
    }
    EXPECT_EQ(series["min"], Json({0.0, 3.6, 18.4, 3.5, 3.4, 3.3, 14.4}));
    EXPECT_EQ(series["max"], Json({40.7, 99.9, 81.3, 62.7, 99.7, 99.6, 40.3}));
  }
  void ExpectSteps() {
    const Json rank = Ask("/steps")["ranks"][0];
    EXPECT_EQ(rank["steps"], 30);
    EXPECT_EQ(rank["last_step"], 30);
    EXPECT_DOUBLE_EQ(rank["wall_seconds"]["mean"], 0.15);
    EXPECT_DOUBLE_EQ(rank["wall_seconds"]["p50"], 0.14);
    EXPECT_DOUBLE_EQ(rank["phases"][0]["share_percent"], 25);
    EXPECT_EQ(rank["series"]["start_us"][29], kStartUs + 50'800'000);
  }
  void ExpectPercentiles() {
    const Json row = Ask("/usage")["rows"][0];
    EXPECT_EQ(row["count"], 115);
    EXPECT_EQ(Json({row["p50"], row["p90"], row["p95"], row["p99"], row["max"]}),
              Json({44.2, 88.5, 95.9, 99.7, 99.9}));
    const Json all = Ask("/percentiles?window=0&metric=node_cpu_percent")["series"][0];
    EXPECT_EQ(all["p95"], Json({95.9}));
  }
  void ExpectAll() {
    ExpectJob();
    ExpectList();
    ExpectSamples();
    ExpectBins();
    ExpectSteps();
    ExpectPercentiles();
  }

  std::unique_ptr<Connection> connection_;
};

TEST_F(FirstSliceTest, JobReadsFromFrames) {
  ExpectAll();
}

TEST_F(FirstSliceTest, JobReadsFromBlocks) {
  Compact();
  ExpectAll();
}

}  // namespace
}  // namespace stepscope

// The whole program on a node with GPUs, and with a driver that does not answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>

#include "core/base/json.h"
#include "tests/agent/gpu/gpu_fixture.h"
#include "tests/support/agent_process.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_ingest.h"
#include "tests/support/fake_root.h"
#include "tests/support/mark_writer.h"

namespace stepscope {
namespace {

using test::AgentProcess;
using test::FakeIngest;
using test::FakeRoot;
using testing::ElementsAre;
using testing::IsEmpty;

struct RunGpuTest : testing::Test {
  RunGpuTest() {
    root.MakeFolder("/usr/lib64");
    std::filesystem::create_symlink(test::FakeNvmlFile(), root.path() + "/usr/lib64/" + kNvmlName);
    setenv("FAKE_NVML_GPUS", "2", 1);
  }
  ~RunGpuTest() override {
    unsetenv("FAKE_NVML_GPUS");
    unsetenv("FAKE_NVML_HANGS");
    unsetenv("CUDA_VISIBLE_DEVICES");
  }
  std::vector<std::string> Run(const std::string& script,
                               const std::vector<std::string>& arguments = {}) const {
    std::vector<std::string> words = {"run",
                                      "--server",
                                      service.url(),
                                      "--job",
                                      "job-1",
                                      "--push",
                                      "1s",
                                      "--root",
                                      root.path(),
                                      "--socket",
                                      root.path() + "/agent.sock",
                                      "--",
                                      "/bin/sh",
                                      "-c",
                                      script};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
  Json GpusOf(std::size_t started) const {
    const auto events = service.Events(R"("event":"started")");
    return started < events.size() ? (*ParseJson(events[started]))["facts"]["gpus"] : Json();
  }

  // The GPUs that have samples.
  std::set<std::string> SampledGpus() const {
    std::set<std::string> devices;
    for (const Frame& frame : service.frames()) {
      if (frame.head.kind != FrameKind::kTicks || !frame.schema) continue;
      for (const SeriesName& series : frame.schema->columns)
        if (series.metric.starts_with("gpu_")) devices.insert(series.device);
    }
    return devices;
  }

  FakeRoot root;
  FakeIngest service;
};

TEST_F(RunGpuTest, SaysWhichGpusTheNodeHas) {
  AgentProcess agent(Run("sleep 1"));
  EXPECT_EQ(agent.Wait(), 0);
  const Json gpus = GpusOf(0);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[1]["device"], "gpu1");
  EXPECT_EQ(gpus[1]["name"], "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpus[1]["mig"], false);
  EXPECT_EQ(GpusOf(1), Json());
}

TEST_F(RunGpuTest, HasTheGpusThatTheCommandMayUse) {
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  AgentProcess agent(Run("sleep 2"));
  EXPECT_EQ(agent.Wait(), 0);
  ASSERT_EQ(GpusOf(0).size(), 1u);
  EXPECT_EQ(GpusOf(0)[0]["device"], "gpu1");
  EXPECT_THAT(SampledGpus(), ElementsAre("gpu1"));
}

TEST_F(RunGpuTest, HasNoGpuWhereTheCommandMayUseNone) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  AgentProcess agent(Run("sleep 2"));
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_EQ(GpusOf(0).size(), 0u);
  EXPECT_THAT(SampledGpus(), IsEmpty());
}

TEST_F(RunGpuTest, HasTheGpusThatItsRanksMayUse) {
  AgentProcess agent(Run("until [ -e $0 ]; do sleep 0.1; done", {root.path() + "/end"}));
  ASSERT_TRUE(Eventually([&] { return GpusOf(0).size() == 2; }));
  const testing_support::RingWriter ring;
  testing_support::FakeProcess rank(root.path() + "/agent.sock");
  MarkHello hello;
  hello.devices = "0";
  rank.Send(hello, ring.memory.get());
  EXPECT_TRUE(Eventually([&] { return GpusOf(1).size() == 1; }));
  EXPECT_EQ(GpusOf(1)[0]["device"], "gpu0");
  root.Write("/end", "");
  EXPECT_EQ(agent.Wait(), 0);
}

TEST_F(RunGpuTest, HasNoGpuWhereItsRanksComputeOnTheCpu) {
  AgentProcess agent(Run("until [ -e $0 ]; do sleep 0.1; done", {root.path() + "/end"}));
  ASSERT_TRUE(Eventually([&] { return GpusOf(0).size() == 2; }));
  const testing_support::RingWriter ring;
  testing_support::FakeProcess rank(root.path() + "/agent.sock");
  rank.Send(MarkHello(), ring.memory.get());
  rank.Send(MarkFacts{{{"device_type", "cpu"}}});
  EXPECT_TRUE(Eventually([&] { return GpusOf(1).is_array() && GpusOf(1).empty(); }));
  rank.Send(MarkFacts{{{"device_type", "cuda"}}});
  EXPECT_TRUE(Eventually([&] { return GpusOf(2).size() == 2; }));
  root.Write("/end", "");
  EXPECT_EQ(agent.Wait(), 0);
}

TEST_F(RunGpuTest, SaysItOnceADriverHasStartedThatTakesLong) {
  setenv("FAKE_NVML_HANGS", "2500", 1);
  AgentProcess agent(Run("sleep 6"));
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_EQ(GpusOf(0).size(), 0u);
  EXPECT_EQ(GpusOf(1).size(), 2u);
}

TEST_F(RunGpuTest, SaysThatADriverDoesNotAnswer) {
  setenv("FAKE_NVML_HANGS", "3600000", 1);
  AgentProcess agent(Run("sleep 12"));
  EXPECT_EQ(agent.Wait(), 0);
  const auto events = service.Events(R"("event":"started")");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].find("NVML has not answered yet"), std::string::npos);
  EXPECT_NE(events[1].find("NVML has not answered yet"), std::string::npos) << events[1];
}

TEST_F(RunGpuTest, EndsAsTheCommandDoesWhileADriverHangs) {
  setenv("FAKE_NVML_HANGS", "3600000", 1);
  const auto before = std::chrono::steady_clock::now();
  AgentProcess agent(Run("sleep 3; exit 4"));
  EXPECT_EQ(agent.Wait(), 4);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
  EXPECT_EQ(service.Events(R"("event":"ended")").size(), 1u);
}

}  // namespace
}  // namespace stepscope

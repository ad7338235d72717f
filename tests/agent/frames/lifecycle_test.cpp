#include "agent/frames/lifecycle.h"

#include <gtest/gtest.h>

#include "core/base/json.h"

namespace stepscope {
namespace {

Json FactsOf(const NodeFactsPayload& facts) {
  JobStart start;
  start.facts = facts;
  return (*ParseJson(StartedEvent(start)))["facts"];
}

TEST(StartedEvent, HasWhatTheJobMayUseBesideWhatTheNodeHas) {
  NodeFactsPayload node;
  node.cores = 64;
  node.memory_bytes = 1000;
  node.limits = {.cores = 3, .cpu_quota = 2.5, .memory_bytes = 400};
  const Json facts = FactsOf(node);
  EXPECT_EQ(facts["cores"], 64);
  EXPECT_EQ(facts["cores_allowed"], 3);
  EXPECT_EQ(facts["cpu_quota"], 2.5);
  EXPECT_EQ(facts["memory_allowed_bytes"], 400);
}

TEST(StartedEvent, LeavesOutWhatIsUnknownOrBoundsNothing) {
  NodeFactsPayload node;
  node.cores = 64;
  node.memory_bytes = 1000;
  node.limits.memory_bytes = 4000;
  const Json facts = FactsOf(node);
  for (const char* name : {"cores_allowed", "cpu_quota", "memory_allowed_bytes", "hooks_missing"})
    EXPECT_FALSE(facts.contains(name)) << name;
}

TEST(StartedEvent, SaysWhyHooksAreMissing) {
  NodeFactsPayload node;
  node.hooks_missing = "python3: -I";
  EXPECT_EQ(FactsOf(node)["hooks_missing"], "python3: -I");
}

TEST(StartedEvent, SaysWhatIsReadMoreSeldomToKeepToTheBudget) {
  NodeFactsPayload node;
  EXPECT_FALSE(FactsOf(node).contains("read_seldom"));
  node.slowed = {{"gpu: PCIe bytes", 60s}};
  const Json facts = FactsOf(node);
  EXPECT_EQ(facts["read_seldom"][0]["source"], "gpu: PCIe bytes");
  EXPECT_EQ(facts["read_seldom"][0]["period_s"], 60);
}

TEST(StartedEvent, SaysWhoseJobItIs) {
  NodeFactsPayload node;
  EXPECT_FALSE(FactsOf(node).contains("user"));
  node.user = "ann";
  node.account = "physics";
  EXPECT_EQ(FactsOf(node)["user"], "ann");
  EXPECT_EQ(FactsOf(node)["account"], "physics");
}

TEST(StartedEvent, KeepsSecretsOfTheCommandOnTheNode) {
  JobStart start;
  // The token is longer than what is sent of a word.
  start.command = {"train.py", "--hf_token", "hf_0123456789abcdefghijklmnop",
                   std::string(250, 'x') + " ghp_0123456789abcdefghijklmnop"};
  const std::string event = StartedEvent(start);
  EXPECT_EQ(event.find("hf_0"), event.npos);
  EXPECT_EQ(event.find("ghp_"), event.npos);
  EXPECT_EQ((*ParseJson(event))["command"][0], "train.py");
  start.secrets.sends_command = false;
  EXPECT_EQ((*ParseJson(StartedEvent(start)))["command"], Json::array());
}

}  // namespace
}  // namespace stepscope

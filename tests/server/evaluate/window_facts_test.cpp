#include "server/evaluate/window_facts.h"

#include "server/store/traces/traces.h"
#include "tests/server/evaluate/evaluation_fixture.h"

namespace stepscope::scenarios {
namespace {

constexpr char kEvidence[] = R"({"of_device": true, "steps": 8, "step_seconds": 0.1,
  "wall_seconds": 0.8, "to_device_share": 0, "to_host_share": 0, "waits_in_copies_share": 0,
  "short_kernel_share": 0.9, "seconds": {"computing": 0.2, "exposed_communication": 0,
  "exposed_copies": 0, "host_late": 0.6, "host_sync": 0, "host_data": 0, "short_gap": 0,
  "other_idle": 0}})";

Job JobOfOneGpu() {
  Scenario scenario;
  scenario.gpus = 1;
  scenario.stretches = {{400, 60, 40}};
  scenario.ranks = {{2s, 1'900, 100ms, 1}};
  return MakeJob(scenario);
}

class WindowFactsTest : public Evaluation {
 protected:
  // A trace of a rank whose evidence is this text.
  void Store(std::int64_t job_id, int rank, const std::string& evidence) {
    TraceRow row;
    row.rank = rank;
    row.file = "t";
    row.digest = std::string(32, char('a' + rank));
    row.summary = {{"evidence", *ParseJson(evidence)}};
    auto transaction = Transaction::Begin(*connection_);
    const auto stored = StoreTrace(*connection_, job_id, std::nullopt, row, {100, 8}, {});
    ASSERT_TRUE(stored.ok()) << stored.error().message;
    ASSERT_TRUE(transaction->Commit().ok());
  }
};

TEST_F(WindowFactsTest, WhatIsAbsurdSaysNothing) {
  StoredJob stored(*connection_, MakeJob(Small(1)));
  Store(stored.job_id(), 0, kEvidence);
  Store(stored.job_id(), 1, "null");
  Store(stored.job_id(), 2, R"({"steps": 8})");
  std::string negative = kEvidence;
  negative.replace(negative.find("0.6"), 3, "-6 ");
  Store(stored.job_id(), 3, negative);
  const auto facts = ReadWindowFacts(*connection_, stored.job_id());
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  ASSERT_EQ(facts->size(), 1u);
  EXPECT_EQ((*facts)[0].host_late_s, 0.6);
  EXPECT_EQ((*facts)[0].steps, 8);
  EXPECT_TRUE((*facts)[0].of_device);
}

TEST_F(WindowFactsTest, TheDiagnosisTakesThemForWhatTheySaw) {
  const Job job = JobOfOneGpu();
  StoredJob stored(*connection_, job);
  stored.StoreUntil(job.origin + 1h);
  const auto guess = Evaluate(stored.job_id(), "ProfilerReport", job.origin + 1h);
  EXPECT_TRUE(guess.evaluated.verdict["evidence"]["windows"].is_null());
  Store(stored.job_id(), 0, kEvidence);
  const auto known = Evaluate(stored.job_id(), "ProfilerReport", job.origin + 1h);
  const Json& evidence = known.evaluated.verdict["evidence"];
  EXPECT_EQ(evidence["windows"]["steps"], 8);
  EXPECT_EQ(evidence["budget"][1]["cause"], "framework_overhead") << evidence.dump(1);
  EXPECT_NEAR(evidence["budget"][1]["share"].get<double>(), 0.74, 0.02);
  const std::string sentence = known.evaluated.verdict["sentence"];
  EXPECT_NE(sentence.find("In 8 steps of window 1 the GPUs computed 25.0 % of the time, waited for "
                          "launches 75.0 %"),
            std::string::npos)
      << sentence;
  EXPECT_EQ(evidence["total_seconds"], guess.evaluated.verdict["evidence"]["total_seconds"]);
}

TEST_F(WindowFactsTest, ATraceThatComesAfterTheLastTurnChangesTheVerdict) {
  const Job job = JobOfOneGpu();
  StoredJob stored(*connection_, job);
  stored.StoreUntil(job.origin + 1h);
  stored.EndJob();
  const Time later = job.origin + 2h;
  EvaluateAll(stored.job_id(), later, "");
  EvaluateAll(stored.job_id(), later, "");
  const Turn before = Finish(stored.job_id(), "ProfilerReport", later);
  ASSERT_TRUE(before.evaluated.last);
  Store(stored.job_id(), 0, kEvidence);
  const Turn after = Finish(stored.job_id(), "ProfilerReport", later + 1h);
  EXPECT_EQ(after.evaluated.verdict["evidence"]["windows"]["steps"], 8);
  EXPECT_NE(after.evaluated.verdict["sentence"], before.evaluated.verdict["sentence"]);
  EXPECT_EQ(after.evaluated.status, before.evaluated.status);
  EXPECT_EQ(after.evaluated.verdict["evidence"]["total_seconds"],
            before.evaluated.verdict["evidence"]["total_seconds"]);
  EXPECT_TRUE(after.evaluated.findings.empty()) << "nothing is counted twice";
}

}  // namespace
}  // namespace stepscope::scenarios

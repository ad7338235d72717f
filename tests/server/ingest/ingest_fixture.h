#pragma once

#include <gtest/gtest.h>

#include "server/ingest/ingest.h"
#include "server/store/ticks/ticks.h"
#include "tests/support/frames.h"
#include "tests/support/postgres.h"

namespace stepscope {

class IngestTest : public ::testing::Test {
 protected:
  IngestTest() : store_(database_.url(), 8), connection_(database_.Connect()) { Restart(); }

  // A service that was killed and started again.
  void Restart() {
    ingest_.reset();
    IngestOptions options;
    options.default_rules = {{"Rule", "Rule", Json::object()}};
    options.public_url = "http://host";
    ingest_ = std::make_unique<Ingest>(store_, clock_, options);
  }
  PushReply Push(const std::vector<std::string>& frames) {
    return ingest_->Push(test::PushOf(frames));
  }
  void ExpectStored(const PushReply& reply, std::uint64_t acknowledged) {
    EXPECT_EQ(reply.status, 200) << reply.problem_code << ": " << reply.detail;
    EXPECT_EQ(reply.answer.acknowledged, acknowledged);
    EXPECT_EQ(reply.answer.expected, acknowledged + 1);
  }
  void ExpectRejected(const PushReply& reply, std::uint64_t sequence, const std::string& code) {
    EXPECT_EQ(reply.status, 200) << reply.problem_code << ": " << reply.detail;
    ASSERT_EQ(reply.answer.rejected.size(), 1u);
    EXPECT_EQ(reply.answer.rejected[0].sequence, sequence);
    EXPECT_EQ(reply.answer.rejected[0].code, code) << reply.answer.rejected[0].detail;
    EXPECT_FALSE(reply.answer.rejected[0].detail.empty());
  }
  void ExpectProblem(const PushReply& reply, int status, const std::string& code) {
    EXPECT_EQ(reply.status, status) << reply.detail;
    EXPECT_EQ(reply.problem_code, code);
    EXPECT_FALSE(reply.detail.empty());
  }
  std::int64_t Count(const std::string& sql) {
    const auto rows = connection_->Query(sql);
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? rows->Int(0, 0) : -1;
  }
  std::int64_t Frames() { return Count("select count(*) from frames"); }
  JobRow Job(const std::string& name = "train") {
    const auto job = FindJob(*connection_, name);
    EXPECT_TRUE(job) << job.error().message;
    return job ? *job : JobRow();
  }
  TickTable Ticks() {
    TickQuery query;
    query.job_id = Job().job_id;
    query.node_id = ListNodes(*connection_, query.job_id).value().at(0).node_id;
    auto ticks = ReadTicks(*connection_, query);
    EXPECT_TRUE(ticks) << ticks.error().message;
    return ticks ? std::move(*ticks) : TickTable();
  }

  TestDatabase database_;
  Database store_;
  std::unique_ptr<Connection> connection_;
  SystemClock clock_;
  std::unique_ptr<Ingest> ingest_;
};

}  // namespace stepscope

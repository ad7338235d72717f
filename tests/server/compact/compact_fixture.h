#pragma once

#include <gtest/gtest.h>

#include "server/compact/compact_annotations.h"
#include "server/compact/compact_node.h"
#include "server/compact/compact_steps.h"
#include "tests/support/eventually.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"

namespace stepscope {

class CompactTest : public ::testing::Test {
 protected:
  CompactTest() : store_(database_.url(), 6), connection_(database_.Connect()) {}

  std::int64_t Ask(const std::string& question) {
    return connection_->Query("select " + question)->Int(0, 0);
  }
  std::int64_t Count(const std::string& from) { return Ask("count(*) from " + from); }
  void Compact(const JobFrames& job) {
    ASSERT_TRUE(CompactNode(*connection_, job.job_id(), job.node_id()));
    ASSERT_TRUE(CompactSteps(*connection_, job.job_id(), {0}));
    ASSERT_TRUE(CompactAnnotations(*connection_, job.job_id(), {0}));
  }

  TestDatabase database_;
  Database store_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace stepscope

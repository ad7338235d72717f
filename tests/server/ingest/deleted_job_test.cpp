// Agents whose job is deleted, and made anew under the same name.

#include "server/store/retention/removals.h"
#include "server/store/rules/create_job.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

class DeletedJobTest : public IngestTest {
 protected:
  DeletedJobTest() {
    ExpectStored(Push({agent_.Started(), agent_.Ticks(kStartUs, 4, true)}), 2);
    EXPECT_TRUE(DeleteJob(*connection_, "train", "deleted", kStartUs));
  }
  FrameMaker agent_{"train"};
};

TEST_F(DeletedJobTest, AgentIsToldToEnd) {
  const PushReply gap = Push({agent_.Ticks(kStartUs + 2'000'000, 4, false)});
  EXPECT_EQ(gap.status, 409);
  agent_.head.sequence = 0;
  ExpectProblem(Push({agent_.Ticks(kStartUs, 4, true)}), 410, "unknown-job");
}

// The new job has none of the schemas that the old one had.
TEST_F(DeletedJobTest, NoFrameOfTheNewJobLeansOnSchemasOfTheOld) {
  EXPECT_EQ(Push({agent_.Ticks(kStartUs + 2'000'000, 4, false)}).status, 409);
  NewJob again;
  again.name = "train";
  ASSERT_TRUE(CreateJob(*connection_, again, kStartUs));
  agent_.head.sequence = 0;
  ExpectProblem(Push({agent_.Ticks(kStartUs, 4, false)}), 409, "unknown-schema");
  agent_.head.sequence = 0;
  ExpectStored(Push({agent_.Ticks(kStartUs, 4, true)}), 1);
  EXPECT_EQ(Ticks().at_us.size(), 4u);
}

// The gap was said by another server, so this one still remembers what the old job had.
TEST_F(DeletedJobTest, NorWhereAnotherServerHeardOfIt) {
  Ingest other(store_, clock_, {});
  NewJob again;
  again.name = "train";
  ASSERT_TRUE(CreateJob(*connection_, again, kStartUs));
  EXPECT_EQ(other.Push(test::PushOf({agent_.Ticks(kStartUs, 4, false)})).status, 409);
  agent_.head.sequence = 0;
  ExpectStored(Push({agent_.Lost(3)}), 3);
  const std::string healthy = agent_.Steps(0, kStartUs, 0, 4);
  ExpectProblem(Push({healthy, agent_.Ticks(kStartUs, 4, false)}), 409, "unknown-schema");
  agent_.head.sequence = 4;
  ExpectStored(Push({healthy, agent_.Ticks(kStartUs, 4, true)}), 5);
  EXPECT_EQ(Ticks().at_us.size(), 4u);
  EXPECT_EQ(Count("select count(*) from frames f where not exists (select from schemas s "
                  "where s.job_id = f.job_id and s.schema_hash = f.schema_hash)"),
            0);
}

}  // namespace
}  // namespace stepscope

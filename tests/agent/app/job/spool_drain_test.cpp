#include "agent/app/job/spool_drain.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/eventually.h"
#include "tests/support/fake_ingest.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

struct SpoolDrainTest : testing::Test {
  // Leaves a session, as an agent does that ends while the service is away.
  void HandOver(const std::string& job) {
    FrameStream stream({job, "node-1", service.url()}, {}, clock, folder.get());
    stream.Append({.kind = FrameKind::kLifecycle, .payload = R"({"event":"started"})"});
    ASSERT_TRUE(stream.HandOver());
  }
  bool Came(const std::string& job) const {
    return Eventually([&] {
      return std::ranges::any_of(service.frames(),
                                 [&](const Frame& frame) { return frame.head.job == job; });
    });
  }

  test::FakeRoot root;
  test::FakeIngest service;
  SystemClock clock;
  std::unique_ptr<SpoolFolder> folder = *OpenSpoolFolder(root.path() + "/spool", 64 << 20);
};

TEST_F(SpoolDrainTest, DeliversWhatIsThereAndWhatIsLeftLater) {
  HandOver("before");
  SpoolDrain drain(folder.get(), {.server = service.url()}, clock);
  ASSERT_TRUE(Came("before"));
  HandOver("later");
  drain.Rescan();

  EXPECT_TRUE(Came("later"));
  EXPECT_TRUE(Eventually([&] { return folder->Sessions().empty(); }));
}

TEST_F(SpoolDrainTest, LeavesWhatAnotherAgentWrites) {
  FrameStream live({"live", "node-1", service.url()}, {}, clock, folder.get());
  live.Append({.kind = FrameKind::kLifecycle, .payload = R"({"event":"started"})"});
  (void)live.HandOver();
  HandOver("old");
  SpoolDrain drain(folder.get(), {.server = service.url()}, clock);

  ASSERT_TRUE(Came("old"));
  drain.AwaitKnown("live");
  EXPECT_EQ(service.frames().size(), 1u);
}

}  // namespace
}  // namespace stepscope

#include "agent/send/replayer.h"

#include <filesystem>
#include <fstream>
#include <random>

#include "core/wire/session.h"
#include "tests/agent/send/sender_fixture.h"
#include "tests/support/frames.h"
#include "tests/support/mutate.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;
using test::PushOf;

struct ReplayerTest : testing::Test {
  static void SetUpTestSuite() { StartLog("replayer_test", LogLevel::kError); }
  ~ReplayerTest() override { std::filesystem::remove(path); }

  Result<Recording> Open(const std::string& bytes) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    return Recording::Open({path});
  }
  // A job of one node: its start, so many frames of ticks, its end.
  static std::vector<std::string> Frames(FrameMaker& maker, int ticks = 3) {
    std::vector<std::string> frames{maker.Started()};
    for (int i = 0; i < ticks; ++i) {
      frames.push_back(maker.Ticks(kStartUs + i * 2'000'000, 4, i == 0));
    }
    frames.push_back(maker.Ended(0));
    return frames;
  }
  Status Replay(const Recording& recording, const std::string& job = "") {
    Replayer replayer(
        recording, job, [this](const std::string& body) { return service.Post(body); },
        [this](Duration pause) { clock.Advance(pause + 1s); }, clock);
    for (int i = 0; i < 500; ++i) {
      const auto more = replayer.Step();
      figures = replayer.figures();
      if (!more) return more.error();
      if (!*more) return {};
    }
    return Internal("it never ends");
  }

  const std::string path = testing::TempDir() + "replayer_test.rec";
  FrameMaker maker{"mlp"};
  test::FakeClock clock;
  FakeService service;
  ReplayFigures figures;
};

TEST_F(ReplayerTest, SendsEverythingOnce) {
  const auto recording = Open(PushOf(Frames(maker)));
  ASSERT_TRUE(recording.ok()) << recording.error().message;
  EXPECT_TRUE(recording->damage().empty());
  ASSERT_TRUE(Replay(*recording).ok());
  EXPECT_EQ(service.cursor, 5u);
  ASSERT_TRUE(Replay(*recording).ok());
  EXPECT_EQ(figures.done, 5u);
  EXPECT_EQ(service.taken.size(), 5u);
  EXPECT_EQ(service.taken[0].session, maker.head.session);
}

TEST_F(ReplayerTest, GoesOnWhereTheServiceIs) {
  const auto recording = Open(PushOf(Frames(maker)));
  service.scripted.push_back(Problem(409, "gap", 3));
  service.cursor = 2;
  ASSERT_TRUE(Replay(*recording).ok());
  // The service does not know the schema in the second frame.
  EXPECT_EQ(service.taken.size(), 3u);
  EXPECT_EQ(service.schemas.size(), 2u);
}

TEST_F(ReplayerTest, GivesAJobAnotherNameAndSession) {
  const auto recording = Open(PushOf(Frames(maker)));
  ASSERT_TRUE(Replay(*recording, "mlp-again").ok());
  ASSERT_EQ(service.taken.size(), 5u);
  EXPECT_EQ(service.taken[4].job, "mlp-again");
  EXPECT_EQ(service.taken[4].session, SessionInJob(maker.head.session, "mlp-again"));
  EXPECT_NE(service.taken[4].session, maker.head.session);
}

TEST_F(ReplayerTest, WaitsForAServiceThatIsAway) {
  const auto recording = Open(PushOf(Frames(maker)));
  for (int i = 0; i < 3; ++i) service.scripted.push_back(Problem(503, "unavailable"));
  EXPECT_TRUE(Replay(*recording).ok());
  for (int i = 0; i < 400; ++i) service.scripted.push_back(Unavailable("no route"));
  const Status away = Replay(*recording);
  ASSERT_FALSE(away.ok());
  EXPECT_EQ(away.error().code, Code::kUnavailable);
}

TEST_F(ReplayerTest, EndsWhenTheJobHas) {
  const auto recording = Open(PushOf(Frames(maker)));
  service.scripted.push_back(Problem(409, "job-ended"));
  EXPECT_EQ(Replay(*recording).error().code, Code::kConflict);
  service.scripted.push_back(Problem(401, "unauthorized"));
  EXPECT_FALSE(Replay(*recording).ok());
}

TEST_F(ReplayerTest, ReportsWhatIsMissingAsLost) {
  std::vector<std::string> frames = Frames(maker);
  frames.erase(frames.begin() + 2);
  const auto recording = Open(PushOf(frames));
  ASSERT_EQ(recording->damage().size(), 1u);
  EXPECT_NE(recording->damage()[0].find("frames 3 to 3 are missing"), std::string::npos);
  ASSERT_TRUE(Replay(*recording).ok());
  EXPECT_EQ(service.cursor, 5u);
  EXPECT_NE(service.lost.find(R"("first":3,"last":3,"reason":"corrupt")"), std::string::npos);
}

TEST_F(ReplayerTest, SendsNodesInTheOrderOfTheirTimes) {
  FrameMaker other("mlp", "n2");
  std::vector<std::string> frames = Frames(maker), more;
  other.head.created = maker.head.created + 1s;
  more.push_back(other.Started());
  maker.head.created += 2s;
  frames.push_back(maker.Ended(0));
  other.head.created += 3s;
  more.push_back(other.Ended(0));
  frames.insert(frames.end(), more.begin(), more.end());
  const auto recording = Open(PushOf(frames));
  ASSERT_TRUE(recording.ok());
  std::string order;
  Replayer replayer(
      *recording, "",
      [&](const std::string& body) -> Result<HttpAnswer> {
        const auto pieces = SplitPush(body);
        const auto last = DecodeFrame(pieces->back());
        order += last->head.node;
        return Taken(last->head.sequence);
      },
      [](Duration) {}, clock);
  while (*replayer.Step()) continue;
  EXPECT_EQ(order, "n1n2n1n2");
}

TEST_F(ReplayerTest, RefusesWhatIsNoRecording) {
  EXPECT_FALSE(Open("").ok());
  EXPECT_FALSE(Open("root:x:0:0:root:/root:/bin/bash\n").ok());
  EXPECT_FALSE(Open(std::string(100'000, '\0')).ok());
  EXPECT_FALSE(Open("\xff\xff\xff\xff").ok());
  EXPECT_FALSE(Recording::Open({testing::TempDir()}).ok());
  EXPECT_FALSE(Recording::Open({"/nowhere"}).ok());
  const std::string whole = PushOf(Frames(maker));
  const auto cut = Open(whole.substr(0, whole.size() - 5));
  ASSERT_TRUE(cut.ok());
  ASSERT_EQ(cut->damage().size(), 1u);
  EXPECT_NE(cut->damage()[0].find("no whole frame in its last"), std::string::npos);
}

TEST_F(ReplayerTest, SendsOnlyWholeFramesOfDamagedRecordings) {
  const std::string whole = PushOf(Frames(maker, 6));
  std::mt19937 dice(7);
  for (int i = 0; i < 1000; ++i) {
    const auto recording = Open(Mutate(whole, dice));
    if (!recording) continue;
    service = {};
    const Status sent = Replay(*recording);
    EXPECT_TRUE(sent.ok()) << sent.error().message;
    for (const FrameHead& head : service.taken) ASSERT_EQ(head.job, "mlp");
  }
}

TEST(RecordingWriter, WritesOverNothing) {
  const std::string path = testing::TempDir() + "recording_writer.rec";
  {
    auto writer = RecordingWriter::Create(path);
    ASSERT_TRUE(writer.ok());
    FrameMaker maker("mlp");
    ASSERT_TRUE((*writer)->Append(PushOf({maker.Started()})).ok());
    ASSERT_TRUE((*writer)->Append(PushOf({maker.Ended(0)})).ok());
  }
  EXPECT_EQ(RecordingWriter::Create(path).error().code, Code::kConflict);
  EXPECT_EQ(Recording::Open({path})->sessions().at(0).frames.size(), 2u);
  std::filesystem::remove(path);
  const auto full = RecordingWriter::Create("/dev/full");
  EXPECT_FALSE(full.ok());
}

}  // namespace
}  // namespace stepscope

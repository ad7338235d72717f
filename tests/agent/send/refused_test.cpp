// Frames that the service refuses for ever: the spool keeps copies for people.

#include "agent/spool/refused.h"

#include <filesystem>

#include "agent/spool/recording.h"
#include "tests/agent/send/sender_fixture.h"
#include "tests/support/fake_root.h"
#include "tests/support/model_files.h"

namespace stepscope {
namespace {

class Refused : public testing::Test {
 protected:
  static void SetUpTestSuite() { StartLog("refused_test", LogLevel::kError); }

  // The stream of an agent whose service gives these answers, one after the other.
  void Stream(std::unique_ptr<Files> files, std::deque<Result<HttpAnswer>> answers) {
    service_.scripted = std::move(answers);
    folder_ = std::make_unique<SpoolFolder>(std::move(files), 64 * kSegmentBytes);
    stream_ = std::make_unique<FrameStream>(StreamOwner{"job-1", "node-1", "http://a"},
                                            SpoolLimits{}, clock_, folder_.get());
    sender_ = std::make_unique<Sender>(
        *stream_, [this](const std::string& body) { return service_.Post(body); }, clock_);
  }
  test::ModelFiles& ModelStream(std::deque<Result<HttpAnswer>> answers) {
    auto files = std::make_unique<test::ModelFiles>();
    test::ModelFiles& model = *files;
    Stream(std::move(files), std::move(answers));
    return model;
  }
  void AppendTick(std::int64_t at_us) {
    TickFramer ticks(*stream_);
    TickRow row;
    row.Set(row.Add("load_1m"), 1);
    ticks.Add(FromMicros(at_us), row);
    ticks.Cut();
  }
  std::vector<std::string> Copies() {
    std::vector<std::string> names;
    const auto entries = folder_->files().List(kRefusedFolder);
    if (!entries) return names;
    for (const FileEntry& entry : *entries) names.push_back(entry.name);
    return names;
  }

  test::FakeClock clock_;
  FakeService service_;
  std::unique_ptr<SpoolFolder> folder_;
  std::unique_ptr<FrameStream> stream_;
  std::unique_ptr<Sender> sender_;
};

TEST_F(Refused, FrameIsKeptAsARecordingThatHoldsItsSchema) {
  const test::FakeRoot root;
  auto files = OpenFiles(root.path() + "/spool");
  ASSERT_TRUE(files.ok()) << files.error().message;
  Stream(std::move(*files), {Taken(1), Taken(2, {{2, "unknown-metric", "load_1m"}})});
  AppendTick(1'800'000'000'000'000);
  (void)sender_->Send();
  AppendTick(1'800'000'001'000'000);  // the first frame had its schema
  (void)sender_->Send();
  ASSERT_EQ(Copies().size(), 1u);
  const auto recording =
      Recording::Open({root.path() + "/spool/" + kRefusedFolder + "/" + Copies()[0]});
  ASSERT_TRUE(recording.ok()) << recording.error().message;
  const auto frame = recording->Read(recording->sessions().at(0).frames.at(0));
  ASSERT_TRUE(frame.ok() && frame->schema);
  EXPECT_EQ(frame->head.sequence, 2u);
  EXPECT_EQ(frame->schema->columns.at(1).metric, "load_1m");
}

TEST_F(Refused, FrameOnDiskIsKeptToo) {
  ModelStream({Unavailable("away"), Taken(1, {{1, "bad-table", "why"}})});
  AppendTick(1'800'000'000'000'000);
  (void)sender_->Send();
  clock_.Advance(10s);
  ASSERT_TRUE(stream_->Store());
  (void)sender_->Send();
  EXPECT_EQ(Copies().size(), 1u);
}

TEST_F(Refused, FrameThatNoBodyCanHoldIsKept) {
  ModelStream({Problem(400, "bad-frame")});
  AppendTick(1'800'000'000'000'000);
  (void)sender_->Send();
  EXPECT_EQ(Copies().size(), 1u);
  EXPECT_TRUE(stream_->Waits());  // the lost range waits
}

TEST_F(Refused, FullDiskCostsTheCopyAlone) {
  ModelStream({Taken(1, {{1, "bad-table", "why"}})}).SetRoom(0);
  AppendTick(1'800'000'000'000'000);
  EXPECT_EQ(sender_->Send(), Sender::kNothingWaits);
  EXPECT_TRUE(Copies().empty());
}

TEST_F(Refused, EndOfAJobIsNoReasonForCopies) {
  ModelStream({Taken(0, {{1, "job-ended", "over"}})});
  AppendTick(1'800'000'000'000'000);
  (void)sender_->Send();
  EXPECT_TRUE(Copies().empty());
}

TEST(RefusedCopies, OldestGoWhenThereAreTooMany) {
  test::ModelFiles files;
  for (std::uint64_t number = 1; number <= kMostRefusedFrames + 10; ++number) {
    ASSERT_TRUE(KeepRefused(files, Session{}, number, "frame").ok());
  }
  EXPECT_EQ(files.List(kRefusedFolder)->size(), kMostRefusedFrames);
  EXPECT_FALSE(files.Read(Format("{}/{}-10.frames", kRefusedFolder, std::string(32, '0')), 0, 9));
  EXPECT_TRUE(files.Read(Format("{}/{}-11.frames", kRefusedFolder, std::string(32, '0')), 0, 9));
}

TEST(RefusedCopies, TakeFourMebibytesAtMost) {
  test::ModelFiles files;
  const std::string frame(kMostRefusedBytes / 3, 'x');
  for (std::uint64_t number = 1; number <= 7; ++number) {
    ASSERT_TRUE(KeepRefused(files, Session{}, number, frame).ok());
  }
  EXPECT_LE(files.used(), kMostRefusedBytes);
  EXPECT_EQ(files.List(kRefusedFolder)->size(), 2u);
}

TEST(RefusedCopies, SameFrameIsKeptOnce) {
  test::ModelFiles files;
  const auto first = KeepRefused(files, Session{}, 7, "frame");
  const auto second = KeepRefused(files, Session{}, 7, "frame");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(files.List(kRefusedFolder)->size(), 1u);
}

TEST(RefusedCopies, OneThatCannotBeWrittenIsNotLeftInHalf) {
  for (std::uint64_t call = 1; call <= 4; ++call) {
    test::ModelFiles files;
    files.FailAt(call, Code::kInternal);
    const auto kept = KeepRefused(files, Session{}, 7, "frame");
    if (kept) continue;  // listing the folder may fail without a loss
    EXPECT_TRUE(files.Paths().empty()) << call;
  }
}

}  // namespace
}  // namespace stepscope

#include "agent/traces/trace_sender.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "agent/traces/old_traces.h"
#include "core/base/clock.h"
#include "tests/support/fake_root.h"
#include "tests/support/scripted_server.h"

namespace stepscope {
namespace {

using test::Peer;
using test::ScriptedServer;
using testing::HasSubstr;
using testing::SizeIs;

Descriptor FileOf(std::string_view bytes) {
  Descriptor file(memfd_create("trace", MFD_CLOEXEC));
  EXPECT_EQ(write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return file;
}

RankTrace TraceOf(Descriptor file) {
  return {2, MarkTrace{7, 1'000, 5, 900, 1'200, 3'500, "the training ended"}, std::move(file)};
}

// A service that answers so, one after the other, and then 201.
class TraceSenderTest : public testing::Test {
 protected:
  std::vector<std::string> Heads() {
    std::lock_guard lock(mutex_);
    return heads_;
  }

  // What waits in the spool is sent, or dropped.
  void SendOld(OldTraces& old) {
    const auto uplink = Uplink::Make({.server = server_.url()});
    ASSERT_TRUE(uplink);
    for (int tries = 0; !old.empty() && tries < 10; ++tries) (void)old.Step(**uplink);
  }

  SystemClock clock_;
  test::FakeRoot root_;
  std::unique_ptr<SpoolFolder> spool_ = *OpenSpoolFolder(root_.path() + "/spool", 64 << 20);
  std::mutex mutex_;
  std::vector<std::string> heads_;
  std::vector<int> answers_;
  ScriptedServer server_{[this](Peer& peer) {
    while (const auto request = peer.Read()) {
      int status = 201;
      {
        std::lock_guard lock(mutex_);
        if (heads_.size() < answers_.size()) status = answers_[heads_.size()];
        heads_.push_back(request->head);
      }
      peer.Reply(status, "{}");
    }
  }};
};

TEST_F(TraceSenderTest, SendsTheFileWithItsWindowAndWhatItCost) {
  TraceSender sender({.server = server_.url()}, "bert", nullptr, clock_);
  sender.Add(TraceOf(FileOf("{\"traceEvents\": []}")));
  sender.Finish(30s);
  ASSERT_THAT(Heads(), SizeIs(1));
  EXPECT_THAT(Heads()[0],
              HasSubstr("POST /api/v1/jobs/bert/traces?file=window-7-rank-2.json&rank=2&window=7&"
                        "first_step=1000&steps=5&start_us=900&stop_us=1200&save_us=3500&note=the%"
                        "20training%20ended "));
}

TEST_F(TraceSenderTest, SaysWhoAskedWhereTheServiceDidNot) {
  TraceSender sender({.server = server_.url()}, "bert", nullptr, clock_);
  RankTrace trace = TraceOf(FileOf("{\"traceEvents\": []}"));
  trace.said.window = 0;
  trace.said.note.clear();
  trace.said.by = "script";
  trace.said.slower_us = 70;
  sender.Add(std::move(trace));
  sender.Finish(30s);
  ASSERT_THAT(Heads(), SizeIs(1));
  EXPECT_THAT(Heads()[0],
              HasSubstr("traces?file=step-1000-rank-2.json&rank=2&first_step=1000&steps=5&"
                        "start_us=900&stop_us=1200&save_us=3500&by=script&slower_us=70 "));
}

TEST_F(TraceSenderTest, TriesAgainWhileTheServiceIsBusyButNotWhenItRefuses) {
  answers_ = {503, 201, 409};
  TraceSender sender({.server = server_.url()}, "bert", nullptr, clock_);
  sender.Add(TraceOf(FileOf("a")));
  sender.Add(TraceOf(FileOf("b")));
  sender.Finish(30s);
  EXPECT_THAT(Heads(), SizeIs(3));
}

TEST_F(TraceSenderTest, DropsWhatIsNoFile) {
  TraceSender sender({.server = server_.url()}, "bert", nullptr, clock_);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Descriptor writer(ends[1]);
  sender.Add(TraceOf(Descriptor(ends[0])));
  sender.Add(TraceOf(FileOf("")));
  Descriptor huge(memfd_create("trace", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(huge.get(), off_t{1} << 40), 0);
  sender.Add(TraceOf(std::move(huge)));
  sender.Finish(30s);
  EXPECT_THAT(Heads(), SizeIs(0));
}

// Nobody asks before a process passes a file.
TEST_F(TraceSenderTest, PacksSoManyBytesOfAUser) {
  TraceTurns turns;
  TraceSender sender({.server = server_.url()}, "bert", nullptr, clock_, &turns);
  ASSERT_TRUE(turns.Take(7, static_cast<std::uint64_t>(TraceTurns::kBytesAtOnce), clock_.Steady()));
  RankTrace greedy = TraceOf(FileOf(std::string(1 << 20, 'a') + std::string(100 << 20, '\0')));
  greedy.user = 7;
  sender.Add(std::move(greedy));
  sender.Add(TraceOf(FileOf("b")));
  sender.Finish(30s);
  EXPECT_THAT(Heads(), SizeIs(1)) << "the other user's";
}

TEST(PackTrace, HoldsAPieceInMemory) {
  std::string file("\x1f\x8b", 2);
  for (std::size_t i = 0; i < 5 * 1024 * 1024; ++i) file += static_cast<char>(i * 7 + i / 251);
  std::size_t at = 0, most = 0;
  const auto packed = PackTrace(
      [&](std::span<char> into) {
        most = std::max(most, into.size());
        const std::size_t got = at < file.size() ? file.copy(into.data(), into.size(), at) : 0;
        at += got;
        return got;
      },
      file.size());
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_LE(most, 1024u * 1024);
  ASSERT_EQ(packed->bytes, file.size());
  std::string written(file.size(), '\0');
  EXPECT_EQ(packed->Read(0, written), file.size());
  EXPECT_TRUE(written == file);
}

TEST_F(TraceSenderTest, EndsInTimeWhileTheServiceIsAway) {
  TraceSender sender({.server = "http://127.0.0.1:1"}, "bert", nullptr, clock_);
  sender.Add(TraceOf(FileOf("a")));
  sender.Add(TraceOf(FileOf("b")));
  const SteadyTime began = clock_.Steady();
  sender.Finish(100ms);
  EXPECT_LT(clock_.Steady() - began, 10s);
}

TEST_F(TraceSenderTest, LeavesInTheSpoolWhatItCouldNotSend) {
  {
    TraceSender sender({.server = "http://127.0.0.1:1"}, "bert", spool_.get(), clock_);
    sender.Add(TraceOf(FileOf("a")));
    sender.Add(TraceOf(FileOf("b")));
    EXPECT_EQ(sender.Finish(0s), 2u);
  }
  OldTraces elsewhere(*spool_, server_.url());
  EXPECT_TRUE(elsewhere.empty()) << "meant for another service";
  OldTraces busy(*spool_, "");
  EXPECT_TRUE(busy.empty()) << "its folder is locked by the one before";
}

TEST_F(TraceSenderTest, AnotherAgentSendsWhatWaits) {
  {
    TraceSender sender({.server = "http://127.0.0.1:1"}, "bert", spool_.get(), clock_);
    sender.Add(TraceOf(FileOf("a")));
    sender.Add(TraceOf(FileOf("b")));
    EXPECT_EQ(sender.Finish(0s), 2u);
  }
  answers_ = {503, 201, 404};
  OldTraces old(*spool_, "");
  EXPECT_THAT(old.Left(), SizeIs(2));
  SendOld(old);
  EXPECT_THAT(Heads(), SizeIs(3));
  EXPECT_EQ(old.sent(), 1u) << "the service does not know the other one's job";
  EXPECT_TRUE(old.empty());
}

TEST_F(TraceSenderTest, SendsWhatWaitedOnceTheServiceTakesIt) {
  answers_ = {503, 404};
  TraceSender sender({.server = server_.url()}, "bert", spool_.get(), clock_);
  sender.Add(TraceOf(FileOf("a")));
  sender.Add(TraceOf(FileOf("b")));
  EXPECT_EQ(sender.Finish(30s), 0u);
  const auto heads = Heads();
  EXPECT_THAT(heads, SizeIs(4)) << "busy, no job yet, and then both";
  OldTraces old(*spool_, "");
  EXPECT_TRUE(old.empty());
}

TEST_F(TraceSenderTest, DropsWhatTheSpoolAndTheServiceHaveNoRoomFor) {
  const auto small = *OpenSpoolFolder(root_.path() + "/small", 10);
  TraceSender sender({.server = "http://127.0.0.1:1"}, "bert", small.get(), clock_);
  sender.Add(TraceOf(FileOf("a")));
  const SteadyTime began = clock_.Steady();
  EXPECT_EQ(sender.Finish(100ms), 0u);
  EXPECT_LT(clock_.Steady() - began, 20s);
}

}  // namespace
}  // namespace stepscope

#include "agent/spool/waiting_traces.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

WaitingTrace TraceOf(std::string body) {
  return {"http://monitor:8080", "/api/v1/jobs/bert/traces?file=a.json&rank=2",
          "the operators of rank 2 in window 7", std::move(body)};
}

std::string Encoded(const WaitingTrace& trace) {
  return EncodeTraceHead(trace) + trace.body;
}

class WaitingTracesTest : public testing::Test {
 protected:
  std::unique_ptr<SpoolFolder> Open(std::uint64_t bytes = 8 * kSegmentBytes) const {
    auto spool = OpenSpoolFolder(root_.path() + "/spool", bytes);
    EXPECT_TRUE(spool) << spool.error().message;
    return std::move(*spool);
  }
  bool Exists(const std::string& name) const {
    return std::filesystem::exists(root_.path() + "/spool/" + name);
  }

  test::FakeRoot root_;
};

TEST(TraceFileTest, IsReadAsItWasWritten) {
  const std::string body("\x28\xb5\x2f\xfd\0\n more", 11);
  const auto trace = DecodeTrace(Encoded(TraceOf(body)));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->service, "http://monitor:8080");
  EXPECT_EQ(trace->path, TraceOf("").path);
  EXPECT_EQ(trace->name, TraceOf("").name);
  EXPECT_EQ(trace->body, body);
}

TEST(TraceFileTest, IsRefusedWhereItIsNotWhole) {
  const std::string whole = Encoded(TraceOf("operators"));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(DecodeTrace(whole.substr(0, bytes))) << bytes;
  }
  EXPECT_FALSE(DecodeTrace(whole + "x"));
  std::string changed = whole;
  changed.back() = 'S';
  EXPECT_EQ(DecodeTrace(changed).error().message, "it is damaged");
  WaitingTrace elsewhere = TraceOf("operators");
  elsewhere.path = "/api/v1/tokens";
  EXPECT_THAT(DecodeTrace(Encoded(elsewhere)).error().message, HasSubstr("where it is to be sent"));
  EXPECT_FALSE(DecodeTrace("[1]\n"));
  EXPECT_FALSE(DecodeTrace(R"({"path": 7, "bytes": -1, "crc32c": "x"})"
                           "\n"));
  EXPECT_FALSE(DecodeTrace(std::string(1 << 20, '{')));
}

TEST_F(WaitingTracesTest, AreFoundOnceTheirAgentIsGone) {
  const auto spool = Open();
  {
    WaitingTraces waiting(*spool);
    EXPECT_THAT(waiting.Files(), IsEmpty());
    ASSERT_TRUE(waiting.Keep(TraceOf("first")));
    ASSERT_TRUE(waiting.Keep(TraceOf("second")));
    EXPECT_THAT(waiting.Files(), ElementsAre("00000001.trace", "00000002.trace"));
    EXPECT_THAT(AbandonedTraces(*Open()), IsEmpty()) << "its agent lives";
  }
  const auto other = Open();
  auto abandoned = AbandonedTraces(*other);
  ASSERT_THAT(abandoned, SizeIs(1));
  ASSERT_THAT(abandoned[0]->Files(), SizeIs(2));
  EXPECT_EQ(abandoned[0]->Read("00000001.trace")->body, "first");
  EXPECT_EQ(abandoned[0]->ReadHead("00000001.trace")->path, TraceOf("").path);
  for (const std::string& file : abandoned[0]->Files()) abandoned[0]->Remove(file);
  abandoned.clear();
  EXPECT_FALSE(Exists("traces")) << "nothing waits";
}

TEST_F(WaitingTracesTest, TakeNoRoomOfSamples) {
  const auto spool = Open(4 * kSegmentBytes);
  const std::string session = SessionName(NewSession());
  ASSERT_TRUE(spool->files().MakeFolder(session));
  const auto segment = [&](std::uint32_t number) {
    ASSERT_TRUE(spool->MakeRoom());
    auto file = spool->files().Create(session + "/" + SegmentName(number), 0);
    ASSERT_TRUE((*file)->Append(std::string(kSegmentBytes, 's')));
  };
  segment(1);
  WaitingTraces waiting(*spool);
  const std::string half(kSegmentBytes / 2, 't');
  for (int number = 0; number < 6; ++number) EXPECT_TRUE(waiting.Keep(TraceOf(half)));
  EXPECT_THAT(waiting.Files(), SizeIs(5)) << "each has a head, too";
  segment(2);
  EXPECT_THAT(waiting.Files(), SizeIs(3)) << "the oldest went";
  EXPECT_EQ(waiting.Read("00000001.trace").error().code, Code::kNotFound);
  segment(3);
  segment(4);
  EXPECT_THAT(waiting.Files(), IsEmpty());
  const Status kept = waiting.Keep(TraceOf(half));
  ASSERT_FALSE(kept);
  EXPECT_THAT(kept.error().message, HasSubstr("no room for 1 MiB: 4 of its 4 MiB are samples"));
  EXPECT_THAT(*spool->files().List(session), SizeIs(4)) << "no sample went for a trace";
}

TEST_F(WaitingTracesTest, SurviveStrangersInTheirFolder) {
  const auto spool = Open();
  ASSERT_TRUE(spool->files().MakeFolder("traces"));
  ASSERT_TRUE(spool->files().MakeFolder("traces/00"));
  for (const char* name : {"traces/stray", "traces/00/note.txt", "traces/00/00000001.trace"}) {
    auto file = spool->files().Create(name, 0);
    ASSERT_TRUE((*file)->Append("not a trace"));
  }
  const auto abandoned = AbandonedTraces(*spool);
  ASSERT_THAT(abandoned, SizeIs(1));
  ASSERT_THAT(abandoned[0]->Files(), ElementsAre("00000001.trace"));
  EXPECT_EQ(abandoned[0]->Read("00000001.trace").error().code, Code::kInvalid);
}

}  // namespace
}  // namespace stepscope

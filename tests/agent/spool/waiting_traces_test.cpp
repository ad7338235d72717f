#include "agent/spool/waiting_traces.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "core/wire/crc32c.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

WaitingTrace TraceOf(const std::string& body) {
  return {"http://monitor:8080",
          "/api/v1/jobs/bert/traces?file=a.json&rank=2",
          "the operators of rank 2 in window 7",
          [body](std::uint64_t at, std::span<char> into) {
            return at < body.size() ? body.copy(into.data(), into.size(), at) : 0;
          },
          body.size(),
          Crc32c(body)};
}

std::string BodyOf(const WaitingTrace& trace) {
  std::string body(trace.bytes + 1, '\0');
  std::size_t at = 0;
  while (const std::size_t got = trace.read(at, {body.data() + at, body.size() - at})) at += got;
  return body.substr(0, at);
}

std::string Encoded(const WaitingTrace& trace) {
  return EncodeTraceHead(trace) + BodyOf(trace);
}

class WaitingTracesTest : public testing::Test {
 protected:
  std::unique_ptr<SpoolFolder> Open(std::uint64_t bytes = 8 * kSegmentBytes) const {
    auto spool = OpenSpoolFolder(root_.path() + "/spool", bytes);
    EXPECT_TRUE(spool) << spool.error().message;
    return std::move(*spool);
  }
  // As another agent would have left these bytes.
  static Result<WaitingTrace> Decode(SpoolFolder& spool, const std::string& bytes) {
    (void)spool.files().MakeFolder("traces");
    (void)spool.files().MakeFolder("traces/00");
    (void)spool.files().Remove("traces/00/1.trace");
    auto file = spool.files().Create("traces/00/1.trace", 0);
    EXPECT_TRUE((*file)->Append(bytes));
    return AbandonedTraces(spool).at(0)->Read("1.trace");
  }
  bool Exists(const std::string& name) const {
    return std::filesystem::exists(root_.path() + "/spool/" + name);
  }

  test::FakeRoot root_;
};

TEST_F(WaitingTracesTest, AreReadAsTheyWereWritten) {
  const auto spool = Open();
  const std::string body("\x28\xb5\x2f\xfd\0\n more", 11);
  const auto trace = Decode(*spool, Encoded(TraceOf(body)));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->service, "http://monitor:8080");
  EXPECT_EQ(trace->path, TraceOf("").path);
  EXPECT_EQ(trace->name, TraceOf("").name);
  EXPECT_EQ(BodyOf(*trace), body);
}

// The file is larger than what is in memory of it at once.
TEST_F(WaitingTracesTest, AreReadAndWrittenInPieces) {
  const auto spool = Open();
  std::string body(3 * 1024 * 1024 + 17, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7 + i / 251);
  WaitingTrace trace = TraceOf(body);
  std::size_t most = 0;
  trace.read = [read = trace.read, &most](std::uint64_t at, std::span<char> into) {
    most = std::max(most, into.size());
    return read(at, into);
  };
  WaitingTraces waiting(*spool);
  ASSERT_TRUE(waiting.Keep(trace));
  EXPECT_LE(most, 1024u * 1024);
  const auto read = waiting.Read("00000001.trace");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(BodyOf(*read), body);
}

TEST_F(WaitingTracesTest, AreRefusedWhereTheyAreNotWhole) {
  const auto spool = Open();
  const std::string whole = Encoded(TraceOf("operators"));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(Decode(*spool, whole.substr(0, bytes))) << bytes;
  }
  EXPECT_FALSE(Decode(*spool, whole + "x"));
  std::string changed = whole;
  changed.back() = 'S';
  EXPECT_EQ(Decode(*spool, changed).error().message, "it is damaged");
  WaitingTrace elsewhere = TraceOf("operators");
  elsewhere.path = "/api/v1/tokens";
  EXPECT_THAT(Decode(*spool, Encoded(elsewhere)).error().message,
              HasSubstr("where it is to be sent"));
  EXPECT_FALSE(Decode(*spool, "[1]\n"));
  EXPECT_FALSE(Decode(*spool, R"({"path": 7, "bytes": -1, "crc32c": "x"})"
                              "\n"));
  EXPECT_FALSE(Decode(*spool, std::string(1 << 20, '{')));
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
  EXPECT_EQ(abandoned[0]->Read("00000001.trace")->bytes, 5u);
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

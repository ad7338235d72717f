// Processes that send false data, and files in place of the socket. Each test ends with a valid
// process that is still served.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "agent/marks/marks_ring.h"
#include "core/base/text.h"
#include "tests/agent/marks/intake_fixture.h"

namespace stepscope {
namespace {

using testing::HasSubstr;
using testing_support::FakeProcess;
using testing_support::RingWriter;

class HostileTest : public test::IntakeFixture {
 protected:
  std::string RefusalOfRing(const RingWriter& ring) {
    FakeProcess process(options_.socket_path);
    process.Hello(0, ring);
    return Refusal(process);
  }
  void ExpectStillHears() {
    RingWriter ring;
    FakeProcess process(options_.socket_path);
    process.Hello(42, ring);
    ASSERT_TRUE(process.Receive());
    ring.Step(0, 0ms, 10ms);
    std::size_t steps = 0;
    for (const RankMarks& marks : intake_->Drain().marks) {
      if (marks.rank == 42) steps = marks.steps.size();
    }
    EXPECT_EQ(steps, 1u);
  }
};

TEST_F(HostileTest, RefusesRingsThatCouldPullTheMemoryAway) {
  Start();
  EXPECT_THAT(RefusalOfRing(RingWriter(64, RingBytes(64), 0)), HasSubstr("not sealed"));
  EXPECT_THAT(RefusalOfRing(RingWriter(65'536, 8192)), HasSubstr("its header claims"));
  EXPECT_THAT(RefusalOfRing(RingWriter(100, 8192)), HasSubstr("100 slots"));
  ExpectStillHears();
}

TEST_F(HostileTest, RefusesRingsOfHugePages) {
  constexpr std::int64_t kHugePages = 0x958458f6;  // HUGETLBFS_MAGIC
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  EXPECT_FALSE(CheckRingMemory(kHugePages, 2 << 20).ok());
  EXPECT_FALSE(CheckRingMemory(kHugePages, page).ok());
  EXPECT_FALSE(CheckRingMemory(0x01021994, 2 << 20).ok());
  EXPECT_TRUE(CheckRingMemory(0x01021994, page).ok());

  constexpr off_t kSize = 2 << 20;
  const Descriptor memory(memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
  if (!memory || ftruncate(memory.get(), kSize) != 0) GTEST_SKIP() << "no huge pages here";
  fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK);
  Start();
  FakeProcess process(options_.socket_path);
  process.Send(MarkHello{}, memory.get());
  EXPECT_THAT(Refusal(process), HasSubstr("ordinary pages"));
}

TEST_F(HostileTest, ReadingHolesTakesNoMemory) {
  Start();
  RingWriter ring(65'536);
  FakeProcess process(options_.socket_path);
  process.Hello(0, ring);
  ASSERT_TRUE(process.Receive());
  ring.words[kRingWriteWord] = 65'536;
  intake_->Drain();
  ASSERT_EQ(ring.words[kRingReadWord], 65'536u);
  struct stat file {};
  ASSERT_EQ(fstat(ring.memory.get(), &file), 0);
  EXPECT_LE(file.st_blocks * 512, 8192) << "the header alone";
}

TEST_F(HostileTest, RefusesDescriptorsThatAreNoRing) {
  Start();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Descriptor reading(ends[0]), writing(ends[1]);
  FakeProcess pipe_process(options_.socket_path);
  pipe_process.Send(MarkHello{}, reading.get());
  EXPECT_THAT(Refusal(pipe_process), HasSubstr("no memfd"));
  FakeProcess bare(options_.socket_path);
  bare.Send(MarkHello{});
  EXPECT_THAT(Refusal(bare), HasSubstr("no ring"));
  ExpectStillHears();
}

TEST_F(HostileTest, RefusesMessagesThatAreNotOurs) {
  Start();
  const RingWriter ring;
  for (const std::string& bytes :
       {std::string("x"), std::string("GET / HTTP/1.1\r\n"), std::string(8193, 'x'),
        std::string(100'000, 'x'), EncodeMarkMessage(MarkHello{}).substr(0, 12)}) {
    FakeProcess process(options_.socket_path);
    process.SendBytes(bytes, ring.memory.get());
    EXPECT_THAT(Refusal(process), HasSubstr("mark message")) << bytes.size();
  }
  ExpectStillHears();
}

TEST_F(HostileTest, RefusesMessagesOutOfTurn) {
  Start();
  RingWriter ring;
  FakeProcess early(options_.socket_path);
  early.Send(MarkNames{{{1, "x"}}});
  EXPECT_THAT(Refusal(early), HasSubstr("before the hello"));
  FakeProcess twice(options_.socket_path);
  twice.Hello(0, ring);
  twice.Hello(1, ring);
  EXPECT_THAT(Refusal(twice), HasSubstr("second hello"));
  ExpectStillHears();
}

TEST_F(HostileTest, BoundsRingsAndMessagesOfAProcess) {
  Start();
  RingWriter ring;
  FakeProcess rings(options_.socket_path);
  rings.Hello(0, ring);
  for (int i = 0; i < 64; ++i) rings.Send(MarkRing{1}, ring.memory.get());
  EXPECT_THAT(Refusal(rings), HasSubstr("more than 64 rings"));
  FakeProcess talker(options_.socket_path);
  talker.Hello(0, ring);
  for (int i = 0; i < 20'001; ++i) talker.Send(MarkFacts{{{"key", "value"}}});
  EXPECT_THAT(Refusal(talker), HasSubstr("too many messages"));
  ExpectStillHears();
}

TEST_F(HostileTest, BoundsTheMemoryOfAllRings) {
  Start();
  RingWriter ring(65'536);
  std::vector<std::unique_ptr<FakeProcess>> processes;
  for (int i = 0; i < 5; ++i) {
    processes.push_back(std::make_unique<FakeProcess>(options_.socket_path));
    processes.back()->Hello(i, ring);
    for (int more = 0; more < 60; ++more) processes.back()->Send(MarkRing{1}, ring.memory.get());
    intake_->Drain();
  }
  EXPECT_THAT(Refusal(*processes.back()), HasSubstr("too large"));
  ExpectStillHears();
}

TEST_F(HostileTest, SurvivesPositionsAndSlotsThatLie) {
  Start();
  std::mt19937_64 random(7);
  RingWriter ring;
  FakeProcess process(options_.socket_path);
  process.Hello(0, ring);
  ASSERT_TRUE(process.Receive());
  for (int round = 0; round < 2000; ++round) {
    for (std::size_t word = 0; word < RingBytes(64) / 8; ++word) ring.words[word] = random();
    if (round % 2 == 0) ring.words[kRingWriteWord] = ring.words[kRingReadWord] + random() % 65;
    intake_->Drain();
  }
  ring.words[kRingWriteWord] = ~0ull;
  intake_->Drain();
  ExpectStillHears();
}

TEST_F(HostileTest, BoundsNamesOfARank) {
  Start();
  std::vector<std::unique_ptr<FakeProcess>> processes;
  std::vector<std::unique_ptr<RingWriter>> rings;
  for (int i = 0; i < 3; ++i) {
    rings.push_back(std::make_unique<RingWriter>(512));
    processes.push_back(std::make_unique<FakeProcess>(options_.socket_path));
    processes.back()->Hello(0, *rings.back());
    ASSERT_TRUE(processes.back()->Receive());
    for (std::uint16_t id = 1; id < 512; ++id) {
      processes.back()->Send(MarkNames{{{id, Format("name {} of {}", id, i)}}});
      rings.back()->Annotation(id, 0ms, 1ms);
    }
  }
  std::int64_t count = 0;
  std::size_t most = 0;
  while (count < 3 * 511) {
    for (const RankMarks& marks : intake_->Drain().marks) {
      most = std::max(most, marks.annotations.size());
      for (const auto& row : marks.annotations) count += row.count;
    }
  }
  EXPECT_EQ(count, 3 * 511);
  EXPECT_LE(most, 513u);
}

TEST_F(HostileTest, ReplacesTheSocketOfAKilledAgentOnly) {
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  options_.socket_path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  close(fd);

  Start();
  const auto second = Intake::Start(options_, clock_);

  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr("another agent listens"));
  ExpectStillHears();
}

TEST_F(HostileTest, RefusesPathsThatCannotBe) {
  options_.socket_path = "/tmp/" + std::string(120, 'x');
  EXPECT_THAT(Intake::Start(options_, clock_).error().message, HasSubstr("125 bytes long"));
  options_.socket_path = folder_.path() + "/missing/marks.sock";
  EXPECT_THAT(Intake::Start(options_, clock_).error().message, HasSubstr("No such file"));
  options_.socket_path = folder_.path() + "/file";
  std::ofstream(options_.socket_path) << "precious";
  EXPECT_FALSE(Intake::Start(options_, clock_).ok());
  EXPECT_TRUE(std::filesystem::exists(options_.socket_path));
}

TEST_F(HostileTest, AFloodOfBrokenProcessesLosesNothingOfTheOthers) {
  options_.read_interval = 1ms;
  options_.max_processes = 8;
  Start();
  RingWriter ring(1024);
  FakeProcess honest(options_.socket_path);
  honest.Hello(1, ring);
  ASSERT_TRUE(honest.Receive());
  std::mt19937 random(7);
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    FakeProcess broken(options_.socket_path);
    std::string bytes(random() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    broken.SendBytes(bytes);
    if (i % 4 == 0) ring.Step(i / 4, i * 10ms, 10ms);
  }
  std::size_t steps = 0;
  for (const RankMarks& marks : intake_->Drain().marks) steps += marks.steps.size();
  EXPECT_EQ(steps, 500u);
  ring.Step(500, 50s, 10ms);
  EXPECT_EQ(intake_->Drain().marks.size(), 1u) << "still heard";
}

TEST_F(HostileTest, LeavesNoSocketBehind) {
  Start();
  struct stat file {};
  ASSERT_EQ(stat(options_.socket_path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  intake_.reset();
  EXPECT_FALSE(std::filesystem::exists(options_.socket_path));
}

}  // namespace
}  // namespace stepscope

// Processes of several users, which a socket pair with credentials of the test's choice stands for.

#include "agent/marks/marks_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/socket.h>

#include <utility>
#include <vector>

#include "agent/marks/marks_bounds.h"
#include "core/base/text.h"
#include "tests/support/fake_clock.h"
#include "tests/support/mark_writer.h"

namespace stepscope {
namespace {

using test::FakeClock;
using testing::HasSubstr;
using testing_support::FakeProcess;
using testing_support::RingWriter;

constexpr std::uint32_t kOwnUser = 0, kAnna = 65'533, kBert = 65'534, kCarla = 65'535;

struct RegistryTest : testing::Test {
  // Connects a process of the user; null when it is refused.
  std::unique_ptr<FakeProcess> Connect(std::uint32_t user) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    auto process = std::make_unique<FakeProcess>(Descriptor(ends[1]));
    MarkPeer peer{Descriptor(ends[0]), 1000, user};
    socket_ = peer.socket.get();
    return Registry().Add(std::move(peer)) ? std::move(process) : nullptr;
  }
  // The number of processes that the user can connect, which stay connected.
  std::size_t ConnectAll(std::uint32_t user) {
    std::size_t count = 0;
    while (auto process = Connect(user)) {
      kept_.push_back(std::move(process));
      ++count;
    }
    return count;
  }
  // Connects a process, with the ring of its first thread.
  std::unique_ptr<FakeProcess> Say(std::uint32_t user, int rank, const RingWriter& ring) {
    auto process = Connect(user);
    process->Hello(rank, ring);
    Registry().Serve(socket_);
    return process;
  }
  static std::string Reason(FakeProcess& process) {
    const auto answer = process.Receive();
    return answer ? std::get<MarkAnswer>(*answer).detail : "no answer";
  }
  MarkRegistry& Registry() {
    if (!registry_) registry_ = std::make_unique<MarkRegistry>(options_, clock_, Closer());
    return *registry_;
  }
  RegistryTest() {
    options_.user = kOwnUser;
    options_.allow_other_users = true;
  }

  FakeClock clock_;
  IntakeOptions options_;
  std::unique_ptr<MarkRegistry> registry_;
  std::vector<std::unique_ptr<FakeProcess>> kept_;
  int socket_ = -1;  // the agent's end of the newest process
};

TEST_F(RegistryTest, TwoUsersWithoutAHelloLeaveConnectionsToTheAgentsOwnUser) {
  options_.max_processes = 64;
  EXPECT_EQ(ConnectAll(kAnna), 28u);
  EXPECT_EQ(ConnectAll(kBert), 14u);
  EXPECT_EQ(ConnectAll(kCarla), 7u);
  EXPECT_EQ(ConnectAll(kOwnUser), 15u);
}

TEST_F(RegistryTest, AUserConnectsSoOften) {
  const auto connect = [this](std::uint32_t user) {
    auto process = Connect(user);
    if (!process) return false;
    process.reset();
    Registry().Serve(socket_);
    return true;
  };
  std::size_t count = 0;
  while (count < 10'000 && connect(kAnna)) ++count;
  EXPECT_EQ(count, static_cast<std::size_t>(kConnectionsAtOnce));
  EXPECT_TRUE(Registry().TakeFlood());
  EXPECT_FALSE(Registry().TakeFlood());
  EXPECT_TRUE(connect(kBert)) << "another user is heard";
  clock_.Advance(1s);
  for (count = 0; count < 10'000 && connect(kAnna);) ++count;
  EXPECT_EQ(count, static_cast<std::size_t>(kConnectionsASecond));
}

TEST_F(RegistryTest, AUserSaysSoMuch) {
  const RingWriter ring;
  const MarkFacts fact{{{"key", "value"}}};
  double said = 0;
  bool heard = true;
  while (heard && said < 2 * kMessagesInABurst) {
    const auto process = Say(kAnna, 0, ring);
    for (int i = 0; heard && i < 5'000; ++i, ++said) {
      process->Send(fact);
      heard = i % 50 != 0 || Registry().Serve(socket_);
    }
    process->Close();
    heard = heard && !Registry().Serve(socket_);
  }
  EXPECT_GE(said, kMessagesInABurst * 0.9);
  EXPECT_LE(said, kMessagesInABurst * 1.1);
  auto other = Say(kBert, 1, ring);
  other->Send(fact);
  EXPECT_TRUE(Registry().Serve(socket_));
}

// Each job that a daemon hears of becomes one of the service, which takes so many of a token.
TEST_F(RegistryTest, AUserBeginsSoManyJobs) {
  int number = 0;
  options_.name_job = [&number](const MarkHello&, const MarkCaller&) -> Result<std::string> {
    return Format("job-{}", number);
  };
  const RingWriter ring;
  const auto begin = [&](std::uint32_t user) {
    ++number;
    const auto process = Say(user, 0, ring);
    const std::string reason = Reason(*process);
    process->Close();
    Registry().Serve(socket_);
    Registry().Drain(Format("job-{}", number));
    EXPECT_TRUE(Registry().Forget(Format("job-{}", number)));
    return reason;
  };
  int begun = 0;
  while (begun < 1'000 && begin(kAnna).empty()) ++begun;
  EXPECT_EQ(begun, static_cast<int>(kJobsInADay));
  EXPECT_THAT(begin(kAnna), HasSubstr("began 500 jobs within 24 hours"));
  for (const std::uint32_t other : {kBert, kOwnUser}) EXPECT_EQ(begin(other), "");
  clock_.Advance(std::chrono::hours(24));
  EXPECT_EQ(begin(kAnna), "");
}

TEST_F(RegistryTest, AProcessWithoutAHelloIsDroppedAfterTenSeconds) {
  const RingWriter ring;
  const auto silent = Connect(kAnna);
  const auto heard = Say(kBert, 0, ring);
  clock_.Advance(9s);
  Registry().ReadRings();
  EXPECT_TRUE(Registry().HasPeers());
  clock_.Advance(2s);
  Registry().ReadRings();
  EXPECT_THAT(Reason(*silent), HasSubstr("no hello within 10 s"));
  EXPECT_FALSE(silent->Receive()) << "the connection has ended";
  EXPECT_EQ(Reason(*heard), "");
  EXPECT_EQ(Registry().Jobs().front().processes.size(), 1u);
}

TEST_F(RegistryTest, AUserHasThirtyTwoMebibytesOfRings) {
  const RingWriter ring(65'536);  // 2 MiB and a page
  for (int i = 0; i < 15; ++i) kept_.push_back(Say(kOwnUser, i, ring));
  EXPECT_EQ(Reason(*kept_.back()), "");
  EXPECT_THAT(Reason(*Say(kOwnUser, 15, ring)), HasSubstr("rings of user 0 together"));
  EXPECT_EQ(Reason(*Say(kAnna, 16, ring)), "");
}

TEST_F(RegistryTest, NamesAndFactsOfAUserHaveABound) {
  const RingWriter ring;
  std::size_t accepted = 0;
  for (int i = 0; i < 1000; ++i) {
    auto process = Say(kAnna, i, ring);
    ASSERT_EQ(Reason(*process), "");
    for (std::uint16_t id = 1; id < 500; id += 20) {
      MarkNames names;
      for (std::uint16_t one = id; one < id + 20; ++one) {
        names.names.emplace_back(one, std::string(120, 'x'));
      }
      process->Send(names);
    }
    if (!Registry().Serve(socket_)) {
      EXPECT_THAT(Reason(*process), HasSubstr("names and facts of user"));
      break;
    }
    kept_.push_back(std::move(process));
    ++accepted;
  }
  EXPECT_GE(accepted, 8u) << "a usual node";
  EXPECT_LE(accepted * 500 * 120, kMostBytes / 2);
}

TEST_F(RegistryTest, MarksBeyondTheRateStayInTheRing) {
  RingWriter ring(65'536);
  const auto process = Say(kOwnUser, 0, ring);
  std::int64_t written = 0, read = 0;
  for (int second = 0; second < 4; ++second) {
    // What an honest process would drop: its ring is full.
    for (; written - static_cast<std::int64_t>(ring.words[kRingReadWord]) < 65'536; ++written) {
      ring.Metric(1, 1ms * written, 1.0);
    }
    const auto before = static_cast<std::int64_t>(ring.words[kRingReadWord]);
    for (int i = 0; i < 100; ++i) {
      clock_.Advance(1ms);
      Registry().ReadRings();
    }
    read += static_cast<std::int64_t>(ring.words[kRingReadWord]) - before;
  }
  // A second's worth at the start, and 400 ms.
  EXPECT_LE(read, static_cast<std::int64_t>(kMarksASecond + kMarksASecond * 2 / 5));
  EXPECT_GE(read, static_cast<std::int64_t>(kMarksASecond));
}

TEST_F(RegistryTest, MarksThatAnEndedProcessHadNoTimeToHandOverAreDropped) {
  RingWriter ring(65'536);
  std::vector<std::unique_ptr<FakeProcess>> processes;
  std::vector<int> sockets;
  for (int i = 0; i < 4; ++i) {
    processes.push_back(Say(kOwnUser, i, ring));
    sockets.push_back(socket_);
  }
  for (int i = 0; i < 65'536; ++i) ring.Annotation(1, 1ms * i, 1us);
  for (std::size_t i = 0; i < 4; ++i) {
    processes[i]->Close();
    Registry().Serve(sockets[i]);
  }
  std::int64_t dropped = 0, counted = 0;
  const IntakeBatch batch = Registry().Drain("");
  for (const auto& rank : batch.rank_started) {
    const auto at = rank.facts.find("\"dropped\":") + 10;
    dropped += std::stoll(rank.facts.substr(at));
  }
  for (const auto& marks : batch.marks) {
    for (const auto& row : marks.annotations) counted += row.count;
  }
  EXPECT_GT(dropped, 0);
  EXPECT_LE(counted, static_cast<std::int64_t>(kMarksASecond));
}

TEST_F(RegistryTest, OneUsersFloodLeavesTheOtherItsRate) {
  RingWriter flood(65'536), honest(1024);
  const auto one = Say(kAnna, 0, flood), other = Say(kBert, 1, honest);
  std::int64_t number = 0;
  for (int i = 0; i < 100; ++i) {
    // The flood moves its position on by a full ring, without writing.
    __atomic_store_n(&flood.words[kRingWriteWord], flood.words[kRingReadWord] + 65'536,
                     __ATOMIC_RELEASE);
    for (int j = 0; j < 100; ++j, ++number) {
      honest.Step(static_cast<std::uint64_t>(number), 1ms * number, 1ms);
    }
    clock_.Advance(100ms);
    Registry().ReadRings();
    Registry().Drain("");
  }
  EXPECT_EQ(honest.words[kRingReadWord], 10'000u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Everything that the registry may hold, at once and before any drain. docs/bounds.md has the sum.
TEST_F(RegistryTest, HoldsEighteenMebibytesAtMostWhenEverythingIsFull) {
  constexpr std::size_t kMostHeld = std::size_t{18} << 20;
  constexpr std::uint16_t kNames = 10;
  const std::size_t before = mallinfo2().uordblks;
  RingWriter ring(64);
  MarkNames names;
  for (std::uint16_t id = 1; id <= kNames; ++id) {
    names.names.emplace_back(id, Format("{:0>120}", id));
  }
  for (int rank = 0; rank < 1024; ++rank) {
    auto process = Connect(kOwnUser);
    process->Hello(rank, ring);
    process->Send(names);
    Registry().Serve(socket_);
    kept_.push_back(std::move(process));
  }
  ASSERT_EQ(kept_.size(), kMostRings);
  std::size_t most = 0;
  for (std::uint64_t n = 0; n < 1500;) {
    for (int i = 0; i < 15; ++i) {
      const auto id = static_cast<std::uint16_t>(1 + n % kNames);
      ring.Annotation(id, 1ms * n, Duration(1000 << (n / kNames) % 20));
      ring.Metric(id, 1ms * n, 1.0);
      ring.Put({MarkKind::kGpuTime, 0, 0, 1us, 0, n});
      ring.Step(n, 1ms * n, 1ms);
      ++n;
    }
    clock_.Advance(500ms);
    Registry().ReadRings();
    most = std::max(most, mallinfo2().uordblks - before);
  }
  EXPECT_LE(most + kMostRings * kRingHeaderBytes, kMostHeld);
  EXPECT_GE(most, kMostHeld / 8) << "little was filled";
}
#endif

}  // namespace
}  // namespace stepscope

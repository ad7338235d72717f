#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/descriptor.h"
#include "core/model/step.h"
#include "core/wire/mark.h"
#include "core/wire/mark_message.h"

namespace stepscope::testing_support {

// 2026-11-20T00:00:00Z; the start of the fake processes' clock.
inline constexpr std::int64_t kWallBaseNs = 1'795'132'800'000'000'000;

// The ring of a training process that a test plays, valid unless the test writes into `words`.
class RingWriter {
 public:
  explicit RingWriter(std::uint32_t slots = 64, std::optional<std::size_t> bytes = std::nullopt,
                      int seals = F_SEAL_SHRINK)
      : memory(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING)), slots_(slots) {
    length_ = bytes.value_or(RingBytes(slots));
    [[maybe_unused]] const int sized = ftruncate(memory.get(), static_cast<off_t>(length_));
    void* start = mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
    words = static_cast<std::uint64_t*>(start);
    words[kRingMagicWord] = 0x474e495250455453;
    words[kRingVersionWord] = kRingVersion | std::uint64_t{slots} << 32;
    words[kRingClockWord] = static_cast<std::uint64_t>(kWallBaseNs);
    fcntl(memory.get(), F_ADD_SEALS, seals);
  }
  RingWriter(const RingWriter&) = delete;
  ~RingWriter() { munmap(words, length_); }

  void Put(const Mark& mark) {
    const MarkSlot slot = EncodeMark(mark);
    const std::uint64_t position = words[kRingWriteWord] & (slots_ - 1);
    std::memcpy(words + kRingHeaderBytes / 8 + position * 4, slot.data(), sizeof(slot));
    __atomic_store_n(&words[kRingWriteWord], words[kRingWriteWord] + 1, __ATOMIC_RELEASE);
  }
  void Step(std::uint64_t number, Duration start, Duration wall) {
    Put({MarkKind::kStep, 0, static_cast<std::uint64_t>(start.count()), wall, 0, number});
  }
  void Phase(stepscope::Phase phase, Duration start, Duration length, bool after_loss = false) {
    Put({MarkKind::kPhase, static_cast<std::uint16_t>(phase),
         static_cast<std::uint64_t>(start.count()), length, 0, 0, false, after_loss});
  }
  void Annotation(std::uint16_t name, Duration start, Duration length, bool after_loss = false) {
    Put({MarkKind::kAnnotation, name, static_cast<std::uint64_t>(start.count()), length, 0, 0,
         false, after_loss});
  }
  void Metric(std::uint16_t name, Duration at, double value) {
    Put({MarkKind::kMetric,
         name,
         static_cast<std::uint64_t>(at.count()),
         {},
         std::bit_cast<std::uint64_t>(value)});
  }

  Descriptor memory;
  std::uint64_t* words;

 private:
  std::uint64_t slots_;
  std::size_t length_;
};

// The socket of a training process that a test plays.
class FakeProcess {
 public:
  explicit FakeProcess(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const timeval longest{60, 0};  // bounds the wait for an answer
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof(longest));
    connected = connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }

  // A connection that is there already.
  explicit FakeProcess(Descriptor socket) : connected(true), socket_(std::move(socket)) {}

  void Hello(int rank, const RingWriter& ring) {
    MarkHello hello;
    hello.rank = rank;
    Send(hello, ring.memory.get());
  }
  void Send(const MarkMessage& message, int passed = -1) {
    SendBytes(EncodeMarkMessage(message), passed);
  }
  void SendBytes(std::string_view bytes, int passed = -1) {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (passed >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof(control);
      cmsghdr* head = CMSG_FIRSTHDR(&message);
      *head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
      std::memcpy(CMSG_DATA(head), &passed, sizeof(int));
    }
    [[maybe_unused]] const ssize_t sent = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
  }
  // Waits for the agent's next message; none when it hung up.
  std::optional<MarkMessage> Receive() {
    std::string bytes(kMaxMarkMessageBytes, '\0');
    ssize_t length = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    // When the agent hung up with messages unread, the first call fails, and the next one has its
    // last message.
    if (length < 0) length = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (length <= 0) return std::nullopt;
    auto message = DecodeMarkMessage(std::string_view(bytes).substr(0, length));
    return message ? std::optional(*message) : std::nullopt;
  }
  void Close() { socket_ = Descriptor(); }

  bool connected = false;

 private:
  Descriptor socket_;
};

}  // namespace stepscope::testing_support

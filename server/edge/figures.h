#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stepscope {

// Where a connection is between being accepted and being closed.
enum class ConnectionState {
  kHandshake,
  kIdle,  // no byte of a request has come
  kHead,
  kAsking,  // a worker decides about the head
  kBody,
  kAnswering,  // queued, or a worker has it
  kWriting,
  kDraining,  // answered and ended; what still comes is dropped
};
inline constexpr std::size_t kConnectionStates = 8;

// What the edge has counted and how it stands.
struct EdgeFigures {
  std::array<std::uint64_t, kConnectionStates> connections{};  // by state
  std::array<std::uint64_t, kConnectionStates> timeouts{};     // by the state that took too long
  std::uint64_t accepted = 0;
  std::uint64_t accept_failures = 0;
  std::uint64_t shed = 0;          // closed to make room, or not let in
  std::uint64_t requests = 0;      // whose head was complete
  std::uint64_t refused = 0;       // of them on their head, or not readable as a request
  std::uint64_t busy = 0;          // turned away because queue or memory were full
  std::uint64_t queued = 0;        // requests that wait for a worker
  std::uint64_t body_bytes = 0;    // held for requests
  std::uint64_t answer_bytes = 0;  // written, and not sent yet
  std::uint64_t handshakes = 0;
  std::uint64_t handshake_failures = 0;

  std::uint64_t open() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : connections) sum += count;
    return sum;
  }
};

// The same, while it is being counted. Safe from any thread.
struct EdgeCounters {
  std::array<std::atomic<std::uint64_t>, kConnectionStates> connections{}, timeouts{};
  std::atomic<std::uint64_t> accepted{0}, accept_failures{0}, shed{0}, requests{0}, refused{0},
      busy{0}, handshakes{0}, handshake_failures{0};
};

}  // namespace stepscope

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stepscope {

// The state of a connection between being accepted and being closed.
enum class ConnectionState {
  kHandshake,
  kIdle,  // no byte of a request has come
  kHead,
  kAsking,  // a worker decides about the head
  kBody,
  kAnswering,  // its request is queued, or a worker has it
  kWriting,
  kDraining,  // answered and ended; what still comes is dropped
};
inline constexpr std::size_t kConnectionStates = 8;

// The counters of the edge since its start, and its present sizes.
struct EdgeFigures {
  std::array<std::uint64_t, kConnectionStates> connections{};  // by state
  std::array<std::uint64_t, kConnectionStates> timeouts{};     // by the state that took too long
  std::uint64_t accepted = 0;
  std::uint64_t accept_failures = 0;
  std::uint64_t shed = 0;          // connections closed to make room, or not let in
  std::uint64_t requests = 0;      // requests whose head was complete
  std::uint64_t refused = 0;       // requests refused on their head, or not readable as one
  std::uint64_t busy = 0;          // requests turned away because queue or memory were full
  std::uint64_t queued = 0;        // requests that wait for a worker
  std::uint64_t body_bytes = 0;    // memory held by bodies of requests
  std::uint64_t answer_bytes = 0;  // bytes of answers not sent yet
  std::uint64_t handshakes = 0;
  std::uint64_t handshake_failures = 0;

  std::uint64_t open() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : connections) sum += count;
    return sum;
  }
};

// The counters behind EdgeFigures. Safe from any thread.
struct EdgeCounters {
  std::array<std::atomic<std::uint64_t>, kConnectionStates> connections{}, timeouts{};
  std::atomic<std::uint64_t> accepted{0}, accept_failures{0}, shed{0}, requests{0}, refused{0},
      busy{0}, handshakes{0}, handshake_failures{0};
};

}  // namespace stepscope

#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <memory>

#include "core/base/descriptor.h"
#include "core/base/time.h"

namespace stepscope {

// A process beside the command, in the agent's process group, that tells whether a signal was sent
// to each process of the group, and so to the command, too: the kernel does not say that to the one
// that gets it. It does nothing with the signals, and ends with the agent.
class SignalWitness {
 public:
  // To be called by the main thread, with which its process ends. Null where the system lacks the
  // resources.
  static std::unique_ptr<SignalWitness> Start();
  ~SignalWitness();
  SignalWitness(const SignalWitness&) = delete;

  // Whether it has got this signal, too, which has just arrived here. Waits at most for kPatience,
  // as a batch system signals one process after the other.
  bool Saw(int signal);

  static constexpr Duration kPatience = 30ms;

 private:
  struct Seen {
    std::atomic<std::uint32_t> count{0};
    std::atomic<std::int64_t> at_ns{0};  // when the newest came, by the steady clock
  };
  using Memory = std::array<Seen, NSIG>;

  SignalWitness() = default;
  [[noreturn]] static void Watch(Memory& memory, pid_t agent);
  bool IsNew(int signal);

  Memory* memory_ = nullptr;  // shared with its process
  Descriptor process_;
  std::array<std::uint32_t, NSIG> taken_{};
};

}  // namespace stepscope

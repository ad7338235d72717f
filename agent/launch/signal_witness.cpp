#include "agent/launch/signal_witness.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

namespace stepscope {
namespace {

// A signal that the witness got longer ago than this came with an earlier one.
constexpr Duration kRecent = 1s;
constexpr auto kByDescriptor = static_cast<idtype_t>(3);  // P_PIDFD, which older headers lack

std::int64_t SteadyNs() {
  return std::chrono::steady_clock::now().time_since_epoch() / 1ns;
}

}  // namespace

std::unique_ptr<SignalWitness> SignalWitness::Start() {
  std::unique_ptr<SignalWitness> witness(new SignalWitness);
  void* memory =
      mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  witness->memory_ = new (memory) Memory;
  // Blocked before it exists, so that no signal ends it.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const pid_t agent = getpid();
  const pid_t pid = fork();
  if (pid == 0) Watch(*witness->memory_, agent);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid > 0) witness->process_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  return pid < 0 ? nullptr : std::move(witness);
}

// By its descriptor, as its number may be another process's by now: all children that have ended
// are taken away. Where the kernel has none, it ends with the agent all the same.
SignalWitness::~SignalWitness() {
  if (process_) {
    syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
    siginfo_t ended{};
    waitid(kByDescriptor, static_cast<id_t>(process_.get()), &ended, WEXITED);
  }
  if (memory_ != nullptr) munmap(memory_, sizeof(Memory));
}

// In the new process: only calls that are safe after fork.
void SignalWitness::Watch(Memory& memory, pid_t agent) {
  prctl(PR_SET_NAME, "stepscope-sig");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != agent) _exit(0);
  // Nobody waits for our copies of the agent's files.
  const int limit = static_cast<int>(std::min(sysconf(_SC_OPEN_MAX), 1024L));
  for (int fd = 0; fd < limit; ++fd) close(fd);
  sigset_t all;
  sigfillset(&all);
  for (;;) {
    const int signal = sigwaitinfo(&all, nullptr);
    if (signal <= 0 || signal >= NSIG) continue;
    Seen& seen = memory[static_cast<std::size_t>(signal)];
    seen.at_ns = SteadyNs();
    ++seen.count;
  }
}

bool SignalWitness::IsNew(int signal) {
  const Seen& seen = (*memory_)[static_cast<std::size_t>(signal)];
  std::uint32_t& taken = taken_[static_cast<std::size_t>(signal)];
  const std::uint32_t before = std::exchange(taken, seen.count.load());
  return taken != before && SteadyNs() - seen.at_ns < kRecent / 1ns;
}

bool SignalWitness::Saw(int signal) {
  if (signal <= 0 || signal >= NSIG) return false;
  const auto until = std::chrono::steady_clock::now() + kPatience;
  do {
    if (IsNew(signal)) return true;
    std::this_thread::sleep_for(1ms);
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

}  // namespace stepscope

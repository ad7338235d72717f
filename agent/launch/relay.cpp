#include "agent/launch/relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "agent/launch/relay_process.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr int kLineBytes = 1024 * 1024;  // bytes of unread lines

struct Ends {
  Descriptor input;   // for the command
  Descriptor output;  // for the relay
};

// Opens a terminal that passes every byte on unchanged: the real one behind it does the processing.
bool OpenTerminal(int ours, Ends& ends) {
  ends.output = Descriptor(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  char name[64];
  if (!ends.output || grantpt(ends.output.get()) != 0 || unlockpt(ends.output.get()) != 0 ||
      ptsname_r(ends.output.get(), name, sizeof name) != 0) {
    return false;
  }
  ends.input = Descriptor(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios mode;
  if (!ends.input || tcgetattr(ends.input.get(), &mode) != 0) return false;
  cfmakeraw(&mode);
  CopyTerminalSize(ours, ends.input.get());
  return tcsetattr(ends.input.get(), TCSANOW, &mode) == 0;
}

bool OpenPipe(Ends& ends) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) return false;
  ends.output = Descriptor(pipe[0]);
  ends.input = Descriptor(pipe[1]);
  return true;
}

bool OpenLike(int ours, Ends& ends) {
  return isatty(ours) != 0 ? OpenTerminal(ours, ends) : OpenPipe(ends);
}

bool OpenLines(Ends& ends) {
  if (!OpenPipe(ends)) return false;
  fcntl(ends.input.get(), F_SETPIPE_SZ, kLineBytes);
  return fcntl(ends.input.get(), F_SETFL, O_NONBLOCK) == 0 &&
         fcntl(ends.output.get(), F_SETFL, O_NONBLOCK) == 0;
}

// Whether both are one terminal, pipe or file.
bool GoToTheSamePlace(int one, int other) {
  struct stat a {
  }, b{};
  return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

RelayMemory* MapMemory() {
  void* memory =
      mmap(nullptr, sizeof(RelayMemory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) RelayMemory;
}

Error NoRoom() {
  return Unavailable(Format("output relay: {}", std::strerror(errno)));
}

}  // namespace

Result<std::unique_ptr<Relay>> Relay::Start(bool lines) {
  std::unique_ptr<Relay> relay(new Relay);
  relay->shared_ = GoToTheSamePlace(STDOUT_FILENO, STDERR_FILENO);
  const bool second = lines && !relay->shared_;
  Ends error, output, read;
  int control[2] = {-1, -1};
  relay->memory_ = MapMemory();
  if (relay->memory_ == nullptr || !OpenLike(STDERR_FILENO, error) ||
      (second && !OpenLike(STDOUT_FILENO, output)) || (lines && !OpenLines(read)) ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0) {
    return NoRoom();
  }
  relay->control_ = Descriptor(control[0]);
  const Descriptor other_control(control[1]);
  const pid_t pid = fork();
  if (pid < 0) return NoRoom();
  if (pid == 0) {
    RunRelay({.channels = {RelayChannel{error.output.get(), STDERR_FILENO, true, relay->shared_},
                           RelayChannel{output.output.get(), STDOUT_FILENO, false, true}},
              .control = other_control.get(),
              .lines = read.input.get()},
             *relay->memory_);
  }
  relay->error_ = std::move(error.input);
  relay->output_ = std::move(output.input);
  relay->lines_ = std::move(read.output);
  return relay;
}

Relay::~Relay() {
  if (memory_ != nullptr) munmap(memory_, sizeof(RelayMemory));
}

void Relay::CloseInputs() {
  error_ = Descriptor();
  output_ = Descriptor();
}

std::uint64_t Relay::lines_lost() const {
  return memory_->lines_lost;
}

std::vector<std::string> Relay::Drain(Duration at_most,
                                      const std::vector<std::string>& secret_names) {
  char byte = 0;
  send(control_.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  // An answer, or the relay's end: both mean that all output is written.
  pollfd answer{control_.get(), POLLIN, 0};
  poll(&answer, 1, static_cast<int>(at_most / 1ms));
  return CleanOutputLines(memory_->tail.Lines(), secret_names);
}

}  // namespace stepscope

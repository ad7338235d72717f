#include "agent/launch/relay.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/base/text.h"

namespace stepscope {
namespace {

struct Ends {
  Descriptor input;   // for the command
  Descriptor output;  // for the relay
};

void CopySize(int from, int to) {
  winsize size{};
  if (ioctl(from, TIOCGWINSZ, &size) == 0) ioctl(to, TIOCSWINSZ, &size);
}

// A terminal that passes every byte on as it is: the real one behind it does the rest.
bool OpenTerminal(Ends& ends) {
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
  CopySize(STDERR_FILENO, ends.input.get());
  return tcsetattr(ends.input.get(), TCSANOW, &mode) == 0;
}

bool OpenPipe(Ends& ends) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) return false;
  ends.output = Descriptor(pipe[0]);
  ends.input = Descriptor(pipe[1]);
  return true;
}

// Of the relay's process only, which has one thread.
volatile sig_atomic_t terminal_resized = 0;

void SetSignals() {
  for (const int ignored :
       {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGUSR1, SIGUSR2}) {
    signal(ignored, SIG_IGN);
  }
  struct sigaction resized {};
  resized.sa_handler = [](int) { terminal_resized = 1; };
  sigaction(SIGWINCH, &resized, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Whoever reads our output may be gone; the command goes on all the same.
void WriteAll(const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = write(STDERR_FILENO, bytes, size);
    if (count < 0 && errno == EAGAIN) {
      pollfd room{STDERR_FILENO, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (count < 0 && errno != EINTR) {
      return;
    }
    if (count <= 0) continue;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
}

// False at the end: no writer is left.
bool PassOn(int output, OutputTail& tail) {
  static char bytes[65536];
  const ssize_t count = read(output, bytes, sizeof bytes);
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  tail.Take({bytes, static_cast<std::size_t>(count)});
  WriteAll(bytes, static_cast<std::size_t>(count));
  return true;
}

bool HasMore(int output) {
  pollfd more{output, POLLIN, 0};
  return poll(&more, 1, 0) > 0;
}

// The agent asks by a byte whether all is passed on, and is answered by one.
bool AnswerControl(int& control, int output, OutputTail& tail) {
  char byte = 0;
  if (recv(control, &byte, 1, MSG_DONTWAIT) <= 0) {
    control = -1;
    return true;
  }
  while (HasMore(output)) {
    if (!PassOn(output, tail)) return false;
  }
  send(control, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  return true;
}

[[noreturn]] void RunRelay(int output, int control, OutputTail& tail) {
  prctl(PR_SET_NAME, "stepscope-relay");
  SetSignals();
  for (;;) {
    pollfd watched[] = {{output, POLLIN, 0}, {control, POLLIN, 0}};
    poll(watched, 2, -1);
    if (terminal_resized != 0) {
      terminal_resized = 0;
      CopySize(STDERR_FILENO, output);
      continue;
    }
    if (watched[0].revents != 0 && !PassOn(output, tail)) break;
    if (control >= 0 && watched[1].revents != 0 && !AnswerControl(control, output, tail)) break;
  }
  _exit(0);
}

// Everything but standard error and what the relay works on, so that nobody waits for our copies.
void CloseOthers(int output, int control) {
  const int limit = static_cast<int>(sysconf(_SC_OPEN_MAX));
  for (int fd = 0; fd < std::min(limit, 1024); ++fd) {
    if (fd != STDERR_FILENO && fd != output && fd != control) close(fd);
  }
}

}  // namespace

Result<std::unique_ptr<Relay>> Relay::Start() {
  Ends ends;
  const bool opened = isatty(STDERR_FILENO) != 0 ? OpenTerminal(ends) : OpenPipe(ends);
  int control[2] = {-1, -1};
  void* memory =
      mmap(nullptr, sizeof(OutputTail), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::unique_ptr<Relay> relay(new Relay);
  if (memory != MAP_FAILED) relay->tail_ = new (memory) OutputTail;
  if (!opened || memory == MAP_FAILED ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0) {
    return Unavailable(Format("output relay: {}", std::strerror(errno)));
  }
  relay->control_ = Descriptor(control[0]);
  const Descriptor other_control(control[1]);
  const pid_t pid = fork();
  if (pid < 0) return Unavailable(Format("output relay: {}", std::strerror(errno)));
  if (pid == 0) {
    CloseOthers(ends.output.get(), other_control.get());
    RunRelay(ends.output.get(), other_control.get(), *relay->tail_);
  }
  relay->input_ = std::move(ends.input);
  return relay;
}

Relay::~Relay() {
  if (tail_ != nullptr) munmap(tail_, sizeof(OutputTail));
}

std::vector<std::string> Relay::Drain(Duration at_most) {
  char byte = 0;
  send(control_.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  // An answer, or the relay's end: both mean that all is out.
  pollfd answer{control_.get(), POLLIN, 0};
  poll(&answer, 1, static_cast<int>(at_most / 1ms));
  std::vector<std::string> lines;
  for (const std::string& line : tail_->Lines()) {
    std::string clean = CleanOutputLine(line);
    if (!clean.empty()) lines.push_back(std::move(clean));
  }
  return lines;
}

}  // namespace stepscope

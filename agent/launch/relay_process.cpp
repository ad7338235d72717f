#include "agent/launch/relay_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace stepscope {
namespace {

constexpr std::size_t kLongestRelayedLine = 1023;

// Belongs to the relay's process, which has one thread.
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

// Closes all descriptors but the relay's own, so that no one waits for our copies.
void CloseOthers(const RelayWork& work) {
  const int limit = static_cast<int>(sysconf(_SC_OPEN_MAX));
  for (int fd = 0; fd < std::min(limit, 1024); ++fd) {
    const bool used = fd == work.control || fd == work.lines ||
                      std::ranges::any_of(work.channels, [fd](const RelayChannel& channel) {
                        return fd == channel.from || fd == channel.to;
                      });
    if (!used) close(fd);
  }
}

// False when the reader is gone.
bool WriteAll(int to, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = write(to, bytes, size);
    if (count < 0 && errno == EAGAIN) {
      pollfd room{to, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (count < 0 && errno != EINTR) {
      return errno != EPIPE;
    }
    if (count <= 0) continue;
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

// Cuts the output of one channel into lines; a carriage return ends a line too, as progress bars
// have it.
class LineCutter {
 public:
  void Take(std::string_view bytes, int lines, RelayMemory& memory) {
    for (const char byte : bytes) {
      if (byte == '\n' || byte == '\r') {
        Send(lines, memory);
      } else if (size_ < kLongestRelayedLine) {
        text_[size_++] = byte;
      }
    }
  }

 private:
  // A short write to a pipe is whole or nothing.
  void Send(int lines, RelayMemory& memory) {
    if (size_ == 0) return;
    text_[size_] = '\n';
    if (write(lines, text_.data(), size_ + 1) < 0) ++memory.lines_lost;
    size_ = 0;
  }

  std::array<char, kLongestRelayedLine + 1> text_{};
  std::size_t size_ = 0;
};

class RelayProcess {
 public:
  RelayProcess(const RelayWork& work, RelayMemory& memory) : work_(work), memory_(memory) {}

  void Run() {
    while (Open()) {
      pollfd watched[] = {{work_.channels[0].from, POLLIN, 0},
                          {work_.channels[1].from, POLLIN, 0},
                          {work_.control, POLLIN, 0}};
      poll(watched, std::size(watched), -1);
      if (terminal_resized != 0) {
        terminal_resized = 0;
        for (const RelayChannel& channel : work_.channels) {
          if (channel.from >= 0) CopyTerminalSize(channel.to, channel.from);
        }
        continue;
      }
      for (std::size_t i = 0; i < work_.channels.size(); ++i) {
        if (watched[i].revents != 0) PassOn(i);
      }
      if (watched[2].revents != 0) AnswerControl();
    }
  }

 private:
  bool Open() const { return work_.channels[0].from >= 0 || work_.channels[1].from >= 0; }

  void Close(RelayChannel& channel) {
    close(channel.from);
    channel.from = -1;
  }

  void PassOn(std::size_t way) {
    static char bytes[65536];
    RelayChannel& channel = work_.channels[way];
    const ssize_t count = read(channel.from, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) return Close(channel);
    const std::string_view text(bytes, static_cast<std::size_t>(count));
    if (channel.remembered) memory_.tail.Take(text);
    if (work_.lines >= 0) cutters_[way].Take(text, work_.lines, memory_);
    // Standard error may have no reader: the command goes on all the same.
    const bool read_by_somebody = WriteAll(channel.to, text.data(), text.size());
    if (!read_by_somebody && channel.ends_unread) Close(channel);
  }

  bool HasMore(std::size_t way) const {
    pollfd more{work_.channels[way].from, POLLIN, 0};
    return work_.channels[way].from >= 0 && poll(&more, 1, 0) > 0;
  }

  // The agent asks with a byte whether all is passed on; the relay answers with one.
  void AnswerControl() {
    char byte = 0;
    if (recv(work_.control, &byte, 1, MSG_DONTWAIT) <= 0) {
      work_.control = -1;
      return;
    }
    for (std::size_t way = 0; way < work_.channels.size(); ++way) {
      while (HasMore(way)) PassOn(way);
    }
    send(work_.control, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  RelayWork work_;
  RelayMemory& memory_;
  std::array<LineCutter, 2> cutters_;
};

}  // namespace

void CopyTerminalSize(int from, int to) {
  winsize size{};
  if (ioctl(from, TIOCGWINSZ, &size) == 0) ioctl(to, TIOCSWINSZ, &size);
}

void RunRelay(RelayWork work, RelayMemory& memory) {
  prctl(PR_SET_NAME, "stepscope-relay");
  SetSignals();
  CloseOthers(work);
  RelayProcess(work, memory).Run();
  _exit(0);
}

}  // namespace stepscope

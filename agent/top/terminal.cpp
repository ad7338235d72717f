#include "agent/top/terminal.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace stepscope {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// State for the signal handler: there is one terminal.
termios before;

void Write(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
}

// Makes only calls that are safe in a signal handler.
void Restore() {
  Write(kLeave);
  tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

void OnFatal(int signal) {
  Restore();
  raise(signal);  // ends the program: the handler is called once
}

void CatchFatal(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_NODEFER;
  for (const int signal : kFatal) sigaction(signal, &action, nullptr);
}

}  // namespace

Result<Terminal> Terminal::Open() {
  if (isatty(STDOUT_FILENO) == 0 || tcgetattr(STDIN_FILENO, &before) != 0) {
    return Invalid("no terminal");
  }
  // An empty handler, so that a change of size interrupts a wait.
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigaction(SIGWINCH, &action, nullptr);
  Terminal terminal;
  terminal.Enter();
  return terminal;
}

Terminal::Terminal(Terminal&& other) noexcept : ours_(std::exchange(other.ours_, false)) {}

Terminal::~Terminal() {
  Leave();
}

void Terminal::Enter() {
  ours_ = true;
  CatchFatal(OnFatal);
  termios quiet = before;
  quiet.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  quiet.c_cc[VMIN] = 0;
  quiet.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
  Write(kEnter);
}

void Terminal::Leave() {
  if (!std::exchange(ours_, false)) return;
  CatchFatal(SIG_DFL);
  Restore();
}

Terminal::Size Terminal::size() const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {};
  return {size.ws_col, size.ws_row};
}

bool Terminal::Show(const std::vector<std::string>& lines) const {
  std::string page = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    page += (i == 0 ? "" : "\r\n") + lines[i] + "\x1b[K";
  }
  page += "\x1b[J";
  std::string_view left = page;
  while (!left.empty()) {
    const ssize_t written = write(STDOUT_FILENO, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace stepscope

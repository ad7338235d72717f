#include "agent/app/commands/top.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "agent/app/commands/agent_command.h"
#include "agent/app/job/live_socket.h"
#include "agent/launch/command.h"
#include "agent/sample/sampler.h"
#include "agent/top/terminal.h"
#include "agent/top/top_lines.h"
#include "core/base/buffered_log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostAgents = 16;

// Sockets of `top` beside the agents' sockets, in folders that no other user can write to.
std::vector<std::string> SocketsOf(const TopOptions& options) {
  if (!options.socket.empty()) return {options.socket + kLiveEnding};
  std::vector<std::string> sockets;
  for (const std::string& folder : AgentFolders()) {
    std::error_code failed;
    for (const auto& file : std::filesystem::directory_iterator(folder, failed)) {
      const std::string path = file.path().string();
      if (path.ends_with(kLiveEnding)) sockets.push_back(path);
    }
  }
  std::ranges::sort(sockets);
  sockets.resize(std::min(sockets.size(), kMostAgents));
  return sockets;
}

void AskAgents(const TopOptions& options, TopView& view) {
  std::size_t answers = 0;
  for (const std::string& path : SocketsOf(options)) {
    const auto text = AskAgent(path);
    auto jobs = text ? ParseJobs(*text) : Result<std::vector<TopJob>>(text.error());
    if (!jobs) continue;
    ++answers;
    for (TopJob& job : *jobs) view.jobs.push_back(std::move(job));
  }
  if (answers == 0) view.remark = "No agent on this machine answers: no jobs to show.";
  if (answers > 0 && view.jobs.empty()) view.remark = "No job runs here.";
}

bool VariableHolds(const char* variable, std::string_view text) {
  return Variable(variable).find(text) != std::string::npos;
}

bool UsesUtf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (Variable(variable).empty()) continue;
    return VariableHolds(variable, "UTF-8") || VariableHolds(variable, "utf8");
  }
  return false;
}

TopView TakeView(const TopOptions& options, Sampler& sampler, const Clock& clock) {
  TopView view = ViewOf(sampler.Sample(), options.node, clock.Now());
  AskAgents(options, view);
  return view;
}

std::size_t ColumnsAsked() {
  const auto columns = ParseInt(Variable("COLUMNS"), "COLUMNS");
  return columns && *columns >= 20 && *columns <= 500 ? static_cast<std::size_t>(*columns) : 80;
}

int ShowOnce(const TopOptions& options, Sampler& sampler, const Clock& clock) {
  // Waits, because rates are over this time.
  poll(nullptr, 0, static_cast<int>(std::min<Duration>(options.every, 1s) / 1ms));
  const TopStyle style{.columns = ColumnsAsked(), .unicode = UsesUtf8()};
  for (const std::string& line : LinesOf(TakeView(options, sampler, clock), style)) {
    PrintText(line + "\n");
  }
  return 0;
}

// False when the program is to end.
bool HandleInput(CommandSignals& signals, Terminal& terminal) {
  char key = 0;
  while (read(STDIN_FILENO, &key, 1) == 1) {
    if (key == 'q' || key == 'Q') return false;
  }
  while (const auto arrival = signals.Next()) {
    const int signal = arrival->signal;
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT)
      return false;
    if (signal != SIGTSTP) continue;
    terminal.Leave();
    raise(SIGSTOP);
    terminal.Enter();
  }
  return true;
}

int ShowLive(const TopOptions& options, Sampler& sampler, const Clock& clock,
             CommandSignals& signals, Terminal terminal) {
  const bool colour = Variable("NO_COLOR").empty();
  TopView view = TakeView(options, sampler, clock);
  SteadyTime next = clock.Steady() + std::min<Duration>(options.every, 500ms);
  for (;;) {
    const auto [columns, rows] = terminal.size();
    if (!terminal.Show(LinesOf(view, {columns, rows, UsesUtf8(), colour}))) return 0;
    pollfd watched[] = {{STDIN_FILENO, POLLIN, 0}, {signals.descriptor(), POLLIN, 0}};
    const Duration left = std::max<Duration>(next - clock.Steady(), 0ns);
    poll(watched, 2, static_cast<int>(left / 1ms) + 1);
    if ((watched[0].revents & (POLLHUP | POLLERR)) != 0 || !HandleInput(signals, terminal))
      return 0;
    if (clock.Steady() < next) continue;
    view = TakeView(options, sampler, clock);
    next = clock.Steady() + options.every;
  }
}

}  // namespace

int RunTop(const TopOptions& options) {
  const SystemClock clock;
  const bool plain = options.once || Variable("TERM").empty() || Variable("TERM") == "dumb";
  if (plain || isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0) {
    Sampler sampler(options.root, clock);
    return ShowOnce(options, sampler, clock);
  }
  // A line of the log would disturb the screen.
  std::optional<BufferedLog> held;
  if (isatty(STDERR_FILENO) != 0) held.emplace();
  CommandSignals signals;
  Sampler sampler(options.root, clock);
  auto terminal = Terminal::Open();
  if (!terminal) return ReportUsageError(terminal.error().message);
  return ShowLive(options, sampler, clock, signals, std::move(*terminal));
}

}  // namespace stepscope

// CheckPython of check.h.

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <utility>

#include "agent/app/commands/check.h"
#include "agent/launch/process_start.h"
#include "agent/launch/python_command.h"
#include "agent/launch/python_start.h"
#include "core/base/descriptor.h"
#include "core/base/text.h"

extern char** environ;

namespace stepscope {
namespace {

constexpr Duration kLongestAnswer = 10s;
constexpr std::size_t kMostAnswer = 2000;
constexpr std::size_t kLongestName = 120;
constexpr int kOldest = 9;
// The version, whether the hooks wait for torch, and the sitecustomize that came first.
constexpr const char* kQuestion =
    "import sys; m = sys.modules; print('%d %d %d %s' % (sys.version_info[0], sys.version_info[1], "
    "'_stepscope_start' in m, getattr(m.get('sitecustomize'), '__file__', '')))";

struct Answer {
  std::int64_t major = 0, minor = 0;
  bool hooks = false;
  std::string sitecustomize;
};

CheckLine PythonLine(CheckResult finding, std::string text) {
  return {"training", "python", finding, std::move(text)};
}

// Whose hooks are asked for: a Python, and the words of an `env` before it.
struct AskedPython {
  std::vector<std::string> wrapper{};
  std::string program = "python3";
  PythonCommand python{};
  std::string other{};  // the program of a command that is none of these; "" else
};

bool IsEnvOption(const std::string& word) {
  const bool sets = word.find('=') != word.npos && word[0] != '=';
  return word.starts_with("-u") || word.starts_with("-C") || word == "-i" || word == "-" ||
         word == "--" || word == "--ignore-environment" || sets;
}

AskedPython PythonOf(const std::vector<std::string>& command) {
  AskedPython asked;
  if (command.empty()) return asked;
  auto first = command.begin();
  if (command[0] == "env" || command[0].ends_with("/env")) {
    while (++first != command.end() && IsEnvOption(*first)) {
      const bool takes_next = (*first == "-u" || *first == "-C") && first + 1 != command.end();
      first += takes_next ? 1 : 0;
    }
  }
  const auto python = ParsePythonCommand({first, command.end()});
  if (!python) return {.other = command[0]};
  return {.wrapper = {command.begin(), first}, .program = *first, .python = *python};
}

// The Python of a command with the options that decide what it loads, and the question.
std::vector<std::string> QuestionTo(const AskedPython& asked) {
  const PythonCommand& python = asked.python;
  std::vector<std::string> words = asked.wrapper;
  words.push_back(asked.program);
  if (python.isolated) words.emplace_back("-I");
  if (python.ignores_variables) words.emplace_back("-E");
  if (python.no_site) words.emplace_back("-S");
  if (python.no_user_site) words.emplace_back("-s");
  words.insert(words.end(), {"-c", kQuestion});
  return words;
}

// Our environment as `run` would change it for a command.
std::vector<std::string> EnvironmentOfRun(const std::string& folder) {
  std::vector<std::string> entries = {"STEPSCOPE_JOB=check"};
  const auto changed = PythonVariables(folder, Variable);
  for (const auto& [name, value] : changed) entries.push_back(Format("{}={}", name, value));
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool ours = name == "STEPSCOPE_JOB" || (!changed.empty() && name == "PYTHONPATH");
    if (!ours) entries.emplace_back(text);
  }
  return entries;
}

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// All that comes before the end of the pipe, or of the time.
std::string ReadWithin(int pipe, const Clock& clock) {
  const SteadyTime until = clock.Steady() + kLongestAnswer;
  std::string text;
  while (text.size() < kMostAnswer) {
    pollfd watched{pipe, POLLIN, 0};
    const Duration left = until - clock.Steady();
    if (left <= 0ns || poll(&watched, 1, static_cast<int>(left / 1ms) + 1) < 1) break;
    char buffer[512];
    const ssize_t count = read(pipe, buffer, sizeof buffer);
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

// The output of a program; "" when it cannot be started or does not answer in time.
std::string OutputOf(std::vector<std::string> words, std::vector<std::string> environment,
                     const Clock& clock) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) return "";
  const Descriptor reading(pipe[0]);
  Descriptor writing(pipe[1]);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, writing.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, words[0].c_str(), &files, nullptr, PointersTo(words).data(),
                                  PointersTo(environment).data());
  posix_spawn_file_actions_destroy(&files);
  writing = Descriptor();
  if (failed != 0) return "";
  std::string text = ReadWithin(reading.get(), clock);
  kill(pid, SIGKILL);  // nothing happens to one that has ended
  waitpid(pid, nullptr, 0);
  return text;
}

// The last line counts: a sitecustomize may print.
std::optional<Answer> ParseAnswer(std::string_view text) {
  text = Trim(text);
  const auto words = Split(text.substr(text.rfind('\n') + 1), ' ');
  if (words.size() < 3) return std::nullopt;
  const auto major = ParseInt(words[0], "version"), minor = ParseInt(words[1], "version");
  if (!major || !minor) return std::nullopt;
  return Answer{*major, *minor, words[2] == "1",
                words.size() > 3 ? Printable(words[3], kLongestName) : std::string()};
}

std::string WhyNot(const Answer& answer, const PythonCommand& python, const std::string& folder) {
  if (answer.major < 3 || answer.minor < kOldest)
    return Format("it is older than Python 3.{}, the oldest one that the hooks know", kOldest);
  if (Variable("STEPSCOPE_HOOKS") == "no") return "STEPSCOPE_HOOKS=no switches the hooks off";
  if (python.no_site) return "-S leaves out site, which loads the hooks";
  if (python.isolated) return "-I ignores PYTHONPATH: leave it out, or install the package by pip";
  if (python.ignores_variables)
    return "-E ignores PYTHONPATH: leave it out, or install the package by pip";
  if (folder.empty()) return "the Python package is not beside this program";
  if (!answer.sitecustomize.empty())
    return Format("{} comes first, and lets no other in", answer.sitecustomize);
  return "the hooks do not come in; STEPSCOPE_DEBUG=1 lets Python say why";
}

std::optional<Answer> Ask(const AskedPython& asked, const std::string& folder, const Clock& clock) {
  return ParseAnswer(OutputOf(QuestionTo(asked), EnvironmentOfRun(folder), clock));
}

// Whether the hooks would come in but for the words before the Python.
bool IsKeptOut(AskedPython asked, const std::string& folder, const Clock& clock) {
  if (std::exchange(asked.wrapper, {}).empty()) return false;
  const auto answer = Ask(asked, folder, clock);
  return answer && answer->hooks;
}

}  // namespace

void CheckPython(const std::vector<std::string>& command, const Clock& clock, CheckLines& lines) {
  const AskedPython asked = PythonOf(command);
  const std::string folder = PythonStartFolder(OwnProgram());
  const auto answer = Ask(asked, folder, clock);
  const std::string name = Printable(asked.program, kLongestName);
  if (!answer) return lines.push_back(PythonLine(CheckResult::kAbsent, Format("no {} here", name)));
  std::string version = Format("{} ({}.{})", name, answer->major, answer->minor);
  if (!asked.other.empty()) {
    version = Format("which Python {} starts is not known; {}",
                     Printable(asked.other, kLongestName), version);
  }
  const bool old = answer->major < 3 || answer->minor < kOldest;
  if (answer->hooks && !old)
    return lines.push_back(PythonLine(
        CheckResult::kFine, Format("{}: below run, PyTorch trainings show their steps", version)));
  const std::string why = IsKeptOut(asked, folder, clock)
                              ? "env takes variables away: let it keep PYTHONPATH and STEPSCOPE_..."
                              : WhyNot(*answer, asked.python, folder);
  lines.push_back(
      PythonLine(CheckResult::kNote, Format("{}: no steps are seen: {}", version, why)));
}

}  // namespace stepscope

#include "agent/launch/python_command.h"

#include <algorithm>
#include <cstddef>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestName = 60;

std::string_view FileOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// "python", "python3", "python3.13t", "python3-intel64"
bool IsPythonName(std::string_view name) {
  constexpr std::string_view kName = "python";
  const std::string_view plain = name.substr(0, name.rfind("-intel64"));
  return plain.starts_with(kName) &&
         plain.find_first_not_of("0123456789.t", kName.size()) == std::string_view::npos;
}

void TakeFlag(char flag, PythonCommand& command) {
  if (flag == 'I') command.isolated = true;
  if (flag == 'E') command.ignores_variables = true;
  if (flag == 'S') command.no_site = true;
  if (flag == 's') command.no_user_site = true;
}

// Takes the options at `at`, and their argument. False when they end the options.
bool TakeOptions(const std::vector<std::string>& words, std::size_t& at, PythonCommand& command) {
  const std::string_view word = words[at++];
  if (word.starts_with("--")) {
    if (word == "--check-hash-based-pycs") ++at;
    return true;
  }
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (word[i] == 'c') command.script = "-c";
    if (word[i] == 'm') {
      const bool joined = i + 1 < word.size();
      const std::string_view next = at < words.size() ? words[at] : std::string_view();
      command.script = Format("-m {}", Printable(joined ? word.substr(i + 1) : next, kLongestName));
    }
    if (!command.script.empty()) return false;
    if (word[i] == 'W' || word[i] == 'X') {
      at += i + 1 == word.size();
      return true;
    }
    TakeFlag(word[i], command);
  }
  return true;
}

}  // namespace

std::optional<PythonCommand> ParsePythonCommand(const std::vector<std::string>& words,
                                                std::string_view executable) {
  if (words.empty()) return std::nullopt;
  const std::string_view said = FileOf(words[0]);
  const std::string_view program = IsPythonName(said) ? said : executable;
  if (!IsPythonName(program)) return std::nullopt;
  PythonCommand command{.program = Printable(program, kLongestName)};
  for (std::size_t at = 1; at < words.size();) {
    const bool option = words[at].size() > 1 && words[at][0] == '-';
    if (!option) command.script = Printable(FileOf(words[at]), kLongestName);
    if (!option || !TakeOptions(words, at, command)) break;
  }
  return command;
}

std::optional<int> PythonMinorVersion(std::string_view executable) {
  constexpr std::string_view kName = "python3.";
  if (!executable.starts_with(kName)) return std::nullopt;
  std::string_view digits = executable.substr(kName.size());
  digits = digits.substr(0, digits.find_first_not_of("0123456789"));
  const auto minor = ParseInt(digits, "version");
  return minor && *minor < 1000 ? std::optional(static_cast<int>(*minor)) : std::nullopt;
}

}  // namespace stepscope

#include "agent/app/commands/agent_command.h"

#include <algorithm>
#include <cstdio>

#include "agent/app/options/common_options.h"
#include "agent/app/options/option_sources.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

std::vector<Option> TableOf(const AgentCommand& command) {
  return JoinRows({command.options, EveryRows()});
}

std::string HelpOf(const AgentCommand& command) {
  return Format("{}\nOptions:\n{}", command.help, OptionsHelp(TableOf(command)));
}

std::string HelpOfAll(std::span<const AgentCommand> commands) {
  std::string text = "stepscope-agent: profiles training runs on this machine\n\n";
  for (const AgentCommand& command : commands) {
    text += Format("  stepscope-agent {:<8} {}\n", command.name, command.sentence);
  }
  return text + R"(
  stepscope-agent help COMMAND    its options, with examples
  stepscope-agent --version

Options come from the command line, then from the environment (--server from STEPSCOPE_SERVER),
then from /etc/stepscope/agent.toml (server = "...").
)";
}

std::string Names(std::span<const AgentCommand> commands) {
  std::string names;
  for (const AgentCommand& command : commands) {
    names += Format("{}'{}'", names.empty() ? "" : ", ", command.name);
  }
  return names;
}

const AgentCommand* Find(std::span<const AgentCommand> commands, std::string_view name) {
  const auto found = std::ranges::find(commands, name, &AgentCommand::name);
  return found == commands.end() ? nullptr : &*found;
}

int ReportUnknownCommand(std::span<const AgentCommand> commands, std::string_view name) {
  return ReportUsageError(Format("there is no command '{}'; there is {} (see --help)",
                                 Printable(name, 60), Names(commands)));
}

int Help(std::span<const AgentCommand> commands, std::span<const char* const> words) {
  if (words.empty()) return PrintText(HelpOfAll(commands)), 0;
  const AgentCommand* command = Find(commands, words[0]);
  if (command == nullptr) return ReportUnknownCommand(commands, words[0]);
  return PrintText(HelpOf(*command)), 0;
}

int RunOne(std::span<const AgentCommand> commands, const AgentCommand& command,
           std::span<const char* const> words, std::string_view version) {
  std::vector<Option> all;
  for (const AgentCommand& one : commands) all = JoinRows({all, one.options});
  all = JoinRows({all, EveryRows()});
  const auto read_settings = [&](const Arguments& given) { return ReadOptionSources(given, all); };
  const auto arguments = ParseArguments(TableOf(command), words, command.positional, read_settings);
  if (!arguments) {
    const std::string& why = arguments.error().message;
    const bool forgotten = command.takes_command && why.starts_with("unexpected argument");
    return ReportUsageError(forgotten ? why + ": the command to run stands behind '--'" : why);
  }
  if (arguments->help) return PrintText(HelpOf(command)), 0;
  const auto level = ReadLog(*arguments);
  if (!level) return ReportUsageError(level.error().message);
  StartLog("stepscope-agent", *level);
  return command.run(*arguments, version);
}

}  // namespace

int ReportUsageError(std::string_view sentence) {
  const std::string line = Format("stepscope-agent: {}\n", sentence);
  std::fwrite(line.data(), 1, line.size(), stderr);
  return kWrongUse;
}

void PrintText(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int RunProgram(std::span<const AgentCommand> commands, std::span<const char* const> words,
               std::string_view version) {
  const std::string_view first = words.empty() ? "" : words[0];
  if (first.empty()) {
    return ReportUsageError(Format("say what to do: {}, or --help", Names(commands)));
  }
  if (first == "--help" || first == "-h" || first == "help") {
    return Help(commands, words.subspan(1));
  }
  if (first == "--version") return PrintText(Format("stepscope-agent {}\n", version)), 0;
  const AgentCommand* command = Find(commands, first);
  if (command == nullptr) return ReportUnknownCommand(commands, first);
  return RunOne(commands, *command, words.subspan(1), version);
}

}  // namespace stepscope

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"

namespace stepscope {

inline constexpr int kFailed = 1;
inline constexpr int kWrongUse = 2;

// A command of stepscope-agent. The table in main.cpp is the program: parsing, --help, `help NAME`
// and the keys of the configuration file read it.
struct AgentCommand {
  std::string_view name;
  std::string_view sentence;    // in the list of commands
  std::string_view help;        // purpose, usage, examples
  std::vector<Option> options;  // without the options that every command has
  int (*run)(const Arguments& arguments, std::string_view version);  // returns the exit code
  bool positional = false;     // accepts arguments without an option
  bool takes_command = false;  // behind "--"
};

// Each command is defined in <name>_command.cpp.
AgentCommand RunRow();
AgentCommand CheckRow();
AgentCommand DaemonRow();
AgentCommand FlushRow();
AgentCommand TopRow();
AgentCommand RecordRow();
AgentCommand ReplayRow();
AgentCommand ImportRow();

// Runs the command that the command line names; returns the exit code.
int RunProgram(std::span<const AgentCommand> commands, std::span<const char* const> words,
               std::string_view version);

// Prints the sentence on standard error; returns kWrongUse.
int ReportUsageError(std::string_view sentence);

void PrintText(std::string_view text);

}  // namespace stepscope

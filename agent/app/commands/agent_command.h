#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"

namespace stepscope {

inline constexpr int kFailed = 1;
inline constexpr int kWrongUse = 2;

// A row for each thing that stepscope-agent does. The rows in main.cpp are the program: parsing,
// --help, `help NAME` and the keys of the configuration file read them.
struct AgentCommand {
  std::string_view name;
  std::string_view sentence;    // for the list of commands
  std::string_view help;        // what it does, how it is called, examples
  std::vector<Option> options;  // without those that every command has
  int (*run)(const Arguments& arguments, std::string_view version);  // returns the exit code
  bool positional = false;  // takes words without an option
};

// Each is defined in <name>_row.cpp.
AgentCommand RunRow();
AgentCommand CheckRow();
AgentCommand DaemonRow();
AgentCommand FlushRow();
AgentCommand TopRow();
AgentCommand RecordRow();
AgentCommand ReplayRow();

// Does what the words of the command line say; returns the exit code.
int RunProgram(std::span<const AgentCommand> commands, std::span<const char* const> words,
               std::string_view version);

// One line on standard error; returns kWrongUse.
int ReportUsageError(std::string_view sentence);

void PrintText(std::string_view text);

}  // namespace stepscope

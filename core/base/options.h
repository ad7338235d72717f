#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// One row of a program's option table: parsing, --help and the documentation read the same rows.
struct Option {
  std::string_view name;      // "--server"
  std::string_view argument;  // "URL"; empty for a switch
  std::string_view fallback;  // "" when there is none
  std::string_view help;
  bool required = false;
};

// What was given on the command line. Every option of the table has an entry: its value, "yes" for
// a given switch, else the fallback.
struct Arguments {
  std::map<std::string, std::string, std::less<>> values;
  std::vector<std::string>
      rest;           // behind "--", or the positional ones when `positional` was allowed
  bool help = false;  // --help or -h was given; nothing else was checked then

  const std::string& operator[](std::string_view name) const;
  bool Has(std::string_view name) const;  // given, or has a fallback
};

// Takes "--name value" and "--name=value". The error names the option and, for an unknown one, the
// nearest known. `args` is without the program and command name.
Result<Arguments> ParseArguments(std::span<const Option> table, std::span<const char* const> args,
                                 bool positional = false);

// The option table as text, one option a line, fallbacks shown.
std::string OptionsHelp(std::span<const Option> table);

}  // namespace stepscope

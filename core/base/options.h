#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// Where an option may come from besides the command line.
enum class OptionSource : std::uint8_t { kAnywhere, kVariable, kFile, kCommandLineOnly };

// One row of a program's option table: parsing, --help and the documentation read the same rows.
struct Option {
  std::string_view name;      // "--server"
  std::string_view argument;  // "URL"; empty for a switch
  std::string_view fallback;  // "" when there is none
  std::string_view help;
  bool required = false;
  OptionSource sources = OptionSource::kAnywhere;
  bool repeatable = false;

  bool is_switch() const { return argument.empty(); }
  bool MayComeFrom(OptionSource source) const {
    return sources == OptionSource::kAnywhere || sources == source;
  }
};

// An option that is set in the environment or in a file.
struct Setting {
  std::string name;  // "--server"
  // Several only for a repeatable option; none when a switch is off.
  std::vector<std::string> values{};
  std::string origin{};  // for errors: "STEPSCOPE_SERVER"
  OptionSource source = OptionSource::kVariable;
};

// The parsed arguments. Every option of the table has an entry: its value, "yes" for a given
// switch, else the fallback.
struct Arguments {
  std::map<std::string, std::string, std::less<>> values;
  // All values of each option that was given.
  std::map<std::string, std::vector<std::string>, std::less<>> lists;
  // Where an option comes from that the command line does not have.
  std::map<std::string, std::string, std::less<>> origins;
  // Arguments behind "--", or the positional ones when `positional` was allowed.
  std::vector<std::string> rest;
  bool help = false;  // --help or -h was given; nothing else was checked then

  const std::string& operator[](std::string_view name) const;
  bool Has(std::string_view name) const;                             // given, or has a fallback
  const std::vector<std::string>& All(std::string_view name) const;  // values of a repeatable one

  // The option's name in an error: where it was set.
  std::string NameOf(std::string_view name) const;
};

// Reads the settings of other sources, the strongest first, once the command line is known.
using SettingsReader = std::function<Result<std::vector<Setting>>(const Arguments&)>;

// Takes "--name value" and "--name=value". The error names the option and, for an unknown one, the
// nearest known. `args` is without the program and command name. An option that the command line
// does not have is taken from `read_settings`, if the table allows its source.
Result<Arguments> ParseArguments(std::span<const Option> table, std::span<const char* const> args,
                                 bool positional = false, const SettingsReader& elsewhere = {});

const Option* FindOption(std::span<const Option> table, std::string_view name);

// The option that was probably meant; null when no name is near.
const Option* NearestOption(std::span<const Option> table, std::string_view name);

// The option table as text, one option a line, fallbacks shown.
std::string OptionsHelp(std::span<const Option> table);

}  // namespace stepscope

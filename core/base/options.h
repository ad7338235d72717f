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

// Where an option may be said besides the command line, in a program that has such places.
enum class OptionSource : std::uint8_t { kAnywhere, kVariable, kFile, kCommandLineOnly };

// One row of a program's option table: parsing, --help and the documentation read the same rows.
struct Option {
  std::string_view name;      // "--server"
  std::string_view argument;  // "URL"; empty for a switch
  std::string_view fallback;  // "" when there is none
  std::string_view help;
  bool required = false;
  OptionSource said_in = OptionSource::kAnywhere;
  bool repeatable = false;

  bool is_switch() const { return argument.empty(); }
  bool MayBeSaidIn(OptionSource place) const {
    return said_in == OptionSource::kAnywhere || said_in == place;
  }
};

// An option said elsewhere than on the command line.
struct Setting {
  std::string name;  // "--server"
  // One for an option that is not repeatable; none says that a switch is off.
  std::vector<std::string> values{};
  std::string said_as{};  // for errors: "STEPSCOPE_SERVER"
  OptionSource said_in = OptionSource::kVariable;
};

// What was given. Every option of the table has an entry: its value, "yes" for a given switch, else
// the fallback.
struct Arguments {
  std::map<std::string, std::string, std::less<>> values;
  std::map<std::string, std::vector<std::string>, std::less<>> lists;  // of the repeatable ones
  std::map<std::string, std::string, std::less<>> said_as;             // of those said elsewhere
  std::vector<std::string>
      rest;           // behind "--", or the positional ones when `positional` was allowed
  bool help = false;  // --help or -h was given; nothing else was checked then

  const std::string& operator[](std::string_view name) const;
  bool Has(std::string_view name) const;                             // given, or has a fallback
  const std::vector<std::string>& All(std::string_view name) const;  // of a repeatable one

  // How an error calls the option: where it was said.
  std::string NameOf(std::string_view name) const;
};

// What is said elsewhere, the strongest first, once the command line is known.
using Elsewhere = std::function<Result<std::vector<Setting>>(const Arguments&)>;

// Takes "--name value" and "--name=value". The error names the option and, for an unknown one, the
// nearest known. `args` is without the program and command name. What the command line does not say
// comes from `elsewhere`, where the table has the option and lets it be said there.
Result<Arguments> ParseArguments(std::span<const Option> table, std::span<const char* const> args,
                                 bool positional = false, const Elsewhere& elsewhere = {});

const Option* FindOption(std::span<const Option> table, std::string_view name);

// The one that was probably meant; null when none is near.
const Option* NearestOption(std::span<const Option> table, std::string_view name);

// The option table as text, one option a line, fallbacks shown.
std::string OptionsHelp(std::span<const Option> table);

}  // namespace stepscope

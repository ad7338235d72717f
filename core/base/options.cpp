#include "core/base/options.h"

#include <algorithm>
#include <optional>

#include "core/base/nearest.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

Error Unknown(std::span<const Option> table, std::string_view name) {
  const Option* nearest = NearestOption(table, name);
  const std::string hint = nearest ? Format(" (did you mean {}?)", nearest->name) : "";
  return Invalid(Format("unknown option {}{}; --help lists them", Printable(name, 60), hint));
}

// One word of the command line: an option's name, and its value when the word has one.
struct Word {
  std::string_view name;
  std::optional<std::string_view> value;
};

Word ReadWord(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {word, std::nullopt};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

// Takes the option at `args[i]`, and moves `i` to the last word used.
Status TakeOption(std::span<const Option> table, std::span<const char* const> args, std::size_t& i,
                  Arguments& arguments) {
  const Word word = ReadWord(args[i]);
  const Option* option = FindOption(table, word.name);
  if (option == nullptr) return Unknown(table, word.name);
  const bool is_switch = option->is_switch();
  if (is_switch && word.value) {
    return Invalid(Format("{} takes no value, got '{}'", option->name, Printable(*word.value, 60)));
  }
  if (!is_switch && !word.value && i + 1 >= args.size()) {
    return Invalid(Format("{} needs a value: {} {}", option->name, option->name, option->argument));
  }
  const std::string value(is_switch ? "yes" : word.value ? *word.value : args[++i]);
  arguments.values.insert_or_assign(std::string(option->name), value);
  arguments.lists[std::string(option->name)].push_back(value);
  return {};
}

void TakeSetting(std::span<const Option> table, const Setting& setting, Arguments& arguments) {
  const Option* option = FindOption(table, setting.name);
  if (option == nullptr || !option->MayComeFrom(setting.source)) return;
  const auto [list, first] = arguments.lists.try_emplace(setting.name, setting.values);
  if (!first) return;
  arguments.origins[setting.name] = setting.origin;
  if (!setting.values.empty()) {
    arguments.values[setting.name] = option->is_switch() ? "yes" : setting.values.back();
  }
}

Status CheckRequired(std::span<const Option> table, const Arguments& arguments) {
  for (const Option& option : table) {
    if (option.required && !arguments.Has(option.name)) {
      return Invalid(Format("{} {} is missing: {}", option.name, option.argument, option.help));
    }
  }
  return {};
}

}  // namespace

const std::string& Arguments::operator[](std::string_view name) const {
  const auto found = values.find(name);
  assert(found != values.end());
  return found->second;
}

bool Arguments::Has(std::string_view name) const {
  const auto found = values.find(name);
  return found != values.end() && !found->second.empty();
}

const std::vector<std::string>& Arguments::All(std::string_view name) const {
  static const std::vector<std::string> kNone;
  const auto found = lists.find(name);
  return found == lists.end() ? kNone : found->second;
}

std::string Arguments::NameOf(std::string_view name) const {
  const auto found = origins.find(name);
  return found == origins.end() ? std::string(name) : found->second;
}

const Option* FindOption(std::span<const Option> table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Option::name);
  return found == table.end() ? nullptr : &*found;
}

const Option* NearestOption(std::span<const Option> table, std::string_view name) {
  const Option* nearest = nullptr;
  std::size_t least = 4;
  for (const Option& option : table) {
    const std::size_t distance = EditsBetween(option.name, name.substr(0, 60));
    if (distance < least) nearest = &option, least = distance;
  }
  return nearest;
}

Result<Arguments> ParseArguments(std::span<const Option> table, std::span<const char* const> args,
                                 bool positional, const SettingsReader& read_settings) {
  Arguments arguments;
  for (const Option& option : table) arguments.values.emplace(option.name, option.fallback);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view word = args[i];
    if (word == "--help" || word == "-h") {
      arguments.help = true;
      return arguments;
    }
    if (word == "--") {
      arguments.rest.insert(arguments.rest.end(), args.begin() + i + 1, args.end());
      break;
    }
    if (!word.starts_with("-") && !positional) {
      return Invalid(Format("unexpected argument '{}'", Printable(word, 60)));
    }
    if (!word.starts_with("-")) {
      arguments.rest.emplace_back(word);
      continue;
    }
    if (Status taken = TakeOption(table, args, i, arguments); !taken.ok()) return taken.error();
  }
  if (read_settings) {
    const auto settings = read_settings(arguments);
    if (!settings) return settings.error();
    for (const Setting& setting : *settings) TakeSetting(table, setting, arguments);
  }
  if (Status all = CheckRequired(table, arguments); !all.ok()) return all.error();
  return arguments;
}

std::string OptionsHelp(std::span<const Option> table) {
  constexpr std::size_t kColumn = 26;
  std::string text;
  for (const Option& option : table) {
    const std::string left = Format("  {} {}", option.name, option.argument);
    const std::string gap(left.size() < kColumn ? kColumn - left.size() : 1, ' ');
    const std::string fallback =
        option.fallback.empty() ? "" : Format(" (default: {})", option.fallback);
    text += Format("{}{}{}{}\n", left, gap, option.help, fallback);
  }
  return text;
}

}  // namespace stepscope

#include "agent/app/options/option_sources.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "agent/app/options/common_options.h"
#include "agent/app/options/config_file.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// The variable's name, such as "STEPSCOPE_TOKEN_FILE" for "--token-file".
std::string VariableOf(const Option& option) {
  std::string name = "STEPSCOPE_";
  for (const char c : option.name.substr(2)) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

std::optional<bool> ParseSwitch(std::string_view text) {
  for (const std::string_view on : {"1", "true", "yes"}) {
    if (text == on) return true;
  }
  for (const std::string_view off : {"0", "false", "no"}) {
    if (text == off) return false;
  }
  return std::nullopt;
}

Result<std::vector<Setting>> ReadVariables(std::span<const Option> table) {
  std::vector<Setting> settings;
  for (const Option& option : table) {
    if (!option.MayComeFrom(OptionSource::kVariable)) continue;
    Setting setting{std::string(option.name), {}, VariableOf(option)};
    const std::string value = Variable(setting.origin);
    if (value.empty()) continue;
    const auto on = option.is_switch() ? ParseSwitch(value) : true;
    if (!on) {
      return Invalid(
          Format("{}: must be 'yes' or 'no', not '{}'", setting.origin, Printable(value, 40)));
    }
    if (*on) setting.values.push_back(value);
    settings.push_back(std::move(setting));
  }
  // This user's token is stronger than a token file for all users.
  if (!Variable(kTokenVariable).empty()) settings.push_back({"--token-file", {}, kTokenVariable});
  return settings;
}

// The path of the configuration file, and whether an option or a variable names it.
std::pair<std::string, bool> ConfigPath(const Arguments& arguments,
                                        std::span<const Setting> variables) {
  if (arguments.lists.contains("--config")) return {arguments["--config"], true};
  const auto named = std::ranges::find(variables, "--config", &Setting::name);
  if (named != variables.end()) return {named->values[0], true};
  return {kConfigFile, false};
}

}  // namespace

Result<std::vector<Setting>> ReadOptionSources(const Arguments& arguments,
                                               std::span<const Option> table) {
  auto settings = ReadVariables(table);
  if (!settings) return settings.error();
  const auto [path, named] = ConfigPath(arguments, *settings);
  auto file = ReadConfig(path, table);
  const bool none = !file && file.error().code == Code::kNotFound;
  if (!file && (named || !none)) return file.error();
  if (file) std::ranges::move(*file, std::back_inserter(*settings));
  return settings;
}

}  // namespace stepscope

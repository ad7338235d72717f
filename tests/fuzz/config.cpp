// The agent's configuration file: its settings are options of the table, as the command line could
// give them; an error names the file and one of its lines.

#include <algorithm>

#include "agent/app/options/config_file.h"
#include "core/base/text.h"
#include "tests/fuzz/fuzz.h"

namespace stepscope {
namespace {

constexpr Option kTable[] = {
    {"--server", "URL", "", "", true},
    {"--interval", "TIME", "500ms", ""},
    {"--no-output", "", "", ""},
    {"--log-metric", "PATTERN", "", "", false, OptionSource::kAnywhere, true},
    {"--socket", "PATH", "", "", false, OptionSource::kCommandLineOnly},
};

void CheckSetting(const Setting& setting) {
  const Option* option = FindOption(kTable, setting.name);
  Require(option != nullptr && option->MayComeFrom(OptionSource::kFile),
          "a key is an option of a file", setting.name);
  Require(option->repeatable || option->is_switch() || setting.values.size() == 1,
          "one value for what is not repeatable", setting.name);
  for (const std::string& value : setting.values) {
    Require(Printable(value, 8192) == value || value.find_first_of("\t\n\r\x1b") == value.npos,
            "no control character in a value", value);
  }
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  const std::string_view text = ToBytes(data, size);
  const auto settings = ParseConfig(text, "agent.toml", kTable);
  if (!settings) {
    const std::string& error = settings.error().message;
    Require(error.starts_with("agent.toml:"), "an error names the file", error);
    Require(error.size() < 400, "an error is one short line", error);
    Require(error.find('\n') == error.npos, "an error is one line", error);
    return 0;
  }
  for (const Setting& setting : *settings) CheckSetting(setting);
  const auto again = ParseConfig(text, "agent.toml", kTable);
  Require(again.ok() && again->size() == settings->size(), "a file has one reading");
  return 0;
}

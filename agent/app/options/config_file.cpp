#include "agent/app/options/config_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "agent/app/options/config_text.h"
#include "core/base/descriptor.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

using Type = ConfigEntry::Type;

constexpr std::size_t kLargest = 64 * 1024;

bool InFile(const Option& option) {
  return option.MayComeFrom(OptionSource::kFile);
}

std::string UnknownKey(std::span<const Option> table, const ConfigEntry& entry) {
  const std::string name = Printable(entry.key, 60), option = "--" + entry.key;
  if (FindOption(table, option) != nullptr) {
    return Format("'{}' stands in no configuration file; give {}", name, option);
  }
  std::vector<Option> allowed;
  std::ranges::copy_if(table, std::back_inserter(allowed), InFile);
  const Option* nearest = NearestOption(allowed, option);
  if (nearest == nullptr) return Format("unknown key '{}'", name);
  return Format("unknown key '{}' (did you mean '{}'?)", name, nearest->name.substr(2));
}

std::string_view Wanted(const Option& option) {
  if (option.is_switch()) return "true or false";
  return option.repeatable ? "a text in quotes, or a list of them" : "a text in quotes";
}

bool IsOfType(const Option& option, Type type) {
  if (option.is_switch()) return type == Type::kSwitch;
  return type == Type::kText || type == Type::kNumber || (type == Type::kList && option.repeatable);
}

// A fault of the entry is put into `wrong`.
Setting ToSetting(std::span<const Option> table, ConfigEntry& entry, std::string& wrong) {
  Setting setting{.name = "--" + entry.key, .source = OptionSource::kFile};
  // Another command may have an option of the same name that no file may set.
  const auto option = std::ranges::find_if(
      table, [&](const Option& one) { return one.name == setting.name && InFile(one); });
  if (option == table.end()) {
    wrong = UnknownKey(table, entry);
  } else if (!IsOfType(*option, entry.type)) {
    wrong = Format("'{}' must be {}", entry.key, Wanted(*option));
  } else if (entry.type != Type::kSwitch || entry.values[0] == "true") {
    setting.values = std::move(entry.values);
  }
  return setting;
}

Result<std::string> ReadText(const std::string& path) {
  const auto failed = [&](std::string_view why) {
    return Invalid(Format("{}: {}", Printable(path), why));
  };
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) {
    const bool none = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    return Error{none ? Code::kNotFound : Code::kInvalid, failed(std::strerror(errno)).message};
  }
  if (!S_ISREG(status.st_mode)) return failed("not a file");
  std::string text(kLargest + 1, '\0');
  std::size_t size = 0;
  ssize_t count = 1;
  while (size < text.size() && count > 0) {
    count = read(file.get(), text.data() + size, text.size() - size);
    if (count < 0) return failed(std::strerror(errno));
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  return text;
}

}  // namespace

Result<std::vector<Setting>> ParseConfig(std::string_view text, const std::string& path,
                                         std::span<const Option> table) {
  const std::string file = Printable(path);
  if (text.size() > kLargest) {
    return Invalid(Format("{}: larger than {} KiB", file, kLargest / 1024));
  }
  auto entries = ParseConfigText(text);
  if (!entries) return Invalid(Format("{}:{}", file, entries.error().message));
  std::vector<Setting> settings;
  for (ConfigEntry& entry : *entries) {
    const std::string place = Format("{}:{}", file, entry.line);
    std::string wrong;
    Setting setting = ToSetting(table, entry, wrong);
    if (std::ranges::find(settings, setting.name, &Setting::name) != settings.end()) {
      wrong = Format("'{}' is there twice", entry.key);
    }
    if (!wrong.empty()) return Invalid(Format("{}: {}", place, wrong));
    setting.origin = Format("{}: {}", place, entry.key);
    settings.push_back(std::move(setting));
  }
  return settings;
}

Result<std::vector<Setting>> ReadConfig(const std::string& path, std::span<const Option> table) {
  const auto text = ReadText(path);
  if (!text) return text.error();
  return ParseConfig(*text, path, table);
}

}  // namespace stepscope

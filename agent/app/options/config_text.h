#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// One "key = value" of a configuration file.
struct ConfigEntry {
  enum class Type { kText, kNumber, kSwitch, kList };

  std::string key{};
  int line = 0;
  Type type = Type::kText;
  std::vector<std::string> values{};  // several only of a list; "true" or "false" of a switch
};

// The part of TOML that options need: texts in one line, whole numbers, true and false, and lists
// of texts, with comments. All that is taken means what it means in TOML; the rest is refused.
// The error begins with the line: "3: no value". `text` is of any bytes.
Result<std::vector<ConfigEntry>> ParseConfigText(std::string_view text);

}  // namespace stepscope

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
  std::vector<std::string> values{};  // several for a list; "true" or "false" for a switch
};

// Parses the part of TOML that options need: texts on one line, whole numbers, true and false, and
// lists of texts, with comments. Accepted text means the same in TOML; anything else is refused.
// The error begins with the line: "3: no value". `text` may hold any bytes.
Result<std::vector<ConfigEntry>> ParseConfigText(std::string_view text);

}  // namespace stepscope

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/base/result.h"

namespace stepscope {

// The keys of the configuration file are the names of options without dashes. A switch is true or
// false, a repeatable option a text or a list of texts, every other option a text or a whole
// number.

inline constexpr const char* kConfigFile = "/etc/stepscope/agent.toml";

// Parses the text of a file, for the options of the table that a file may set. Invalid names the
// file, the line, and the key.
Result<std::vector<Setting>> ParseConfig(std::string_view text, const std::string& path,
                                         std::span<const Option> table);

// Reads and parses a file; NotFound when there is none that this user may read.
Result<std::vector<Setting>> ReadConfig(const std::string& path, std::span<const Option> table);

}  // namespace stepscope

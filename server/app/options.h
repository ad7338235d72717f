#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/options.h"

namespace stepscope {

// The options of stepscope-server; --help shows the same rows.
std::span<const Option> ServerOptions();

// The options that say where the data is, for commands that read it as well.
std::span<const Option> DataOptions();

// Parses the options. It takes them also by their names of the release before, which --help does
// not show, and gives each under its new name. An error when both names of one are given.
Result<Arguments> ParseServerArguments(std::span<const char* const> words);

// A sentence for each option that was given by its old name.
std::vector<std::string> OldNameWarnings(const Arguments& arguments);

}  // namespace stepscope

#pragma once

#include <map>
#include <string>

namespace stepscope::scenarios {

// The pages of docs/rules: one with a picture for each rule of the catalog, and one that lists
// them; content by file name.
std::map<std::string, std::string> RulePages();

}  // namespace stepscope::scenarios

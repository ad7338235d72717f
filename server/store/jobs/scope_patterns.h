#pragma once

#include <span>
#include <string>
#include <vector>

namespace stepscope {

// The scopes of a caller for "name = any(names) or name like any(beginnings)". Names of jobs hold
// nothing that "like" would read.
struct ScopePatterns {
  std::vector<std::string> names, beginnings;
};

inline ScopePatterns PatternsOf(std::span<const std::string> scopes) {
  ScopePatterns patterns;
  for (const std::string& scope : scopes) {
    const bool beginning = scope.ends_with('*');
    if (!beginning) patterns.names.push_back(scope);
    if (beginning) patterns.beginnings.push_back(scope.substr(0, scope.size() - 1) + "%");
  }
  return patterns;
}

}  // namespace stepscope

#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// The scopes of a caller for "name = any(names) or name like any(beginnings)". Names of jobs hold
// nothing that "like" would read.
struct ScopePatterns {
  std::vector<std::string> names, beginnings;
};

// Whether a name is within one of the scopes: names, and beginnings with a '*'.
inline bool IsWithin(std::span<const std::string> scopes, std::string_view name) {
  return std::ranges::any_of(scopes, [name](std::string_view scope) {
    if (!scope.ends_with('*')) return scope == name;
    scope.remove_suffix(1);
    return name.starts_with(scope);
  });
}

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

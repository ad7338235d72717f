#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

inline constexpr std::size_t kMostScopes = 100;

// A scope is the name of a job, or the beginning of names and a '*': "mlp-7", "team-a-*".
Status CheckScope(std::string_view scope);

// The nodes of a token: the name of one, or the beginning of names and a '*'.
Status CheckNodeScope(std::string_view scope);

// Whether a job or node is within the scopes; without any, every one is.
bool Covers(std::span<const std::string> scopes, std::string_view name);

}  // namespace stepscope

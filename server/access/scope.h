#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

inline constexpr std::size_t kMostScopes = 100;

// A scope is the name of a job, or the beginning of names and a '*': "mlp-7", "team-a-*".
Status CheckScope(std::string_view scope);

// Whether a job is within the scopes; without any, every job is.
bool Covers(std::span<const std::string> scopes, std::string_view job);

}  // namespace stepscope

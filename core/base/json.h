#pragma once

// JSON of this project; the one place of this layer that includes nlohmann-json.

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

using Json = nlohmann::json;
// Keeps the order in which keys were put in: for answers that people read.
using OrderedJson = nlohmann::ordered_json;

struct JsonLimits {
  std::size_t bytes = 256 * 1024;
  int depth = 32;
  std::size_t values = 10'000;
};

// Refuses what is not JSON, duplicate keys, NUL characters, numbers that are not finite or are
// integers beyond 2^53, and what is above the limits. The error says what and where, never the text
// itself.
Result<Json> ParseJson(std::string_view text, const JsonLimits& limits = {});

// Never throws: invalid UTF-8 becomes U+FFFD.
std::string Dump(const Json& json);
std::string Dump(const OrderedJson& json);

}  // namespace stepscope

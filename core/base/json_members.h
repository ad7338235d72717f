#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"

namespace stepscope {

// Functions that read and write members of JSON objects.

// `key` as RFC 3339 and `key`_us as an integer; both null when there is none.
void PutTime(OrderedJson& json, const std::string& key, std::optional<std::int64_t> at_us);

// Rounded to so many decimals, so that no one reads noise.
double Rounded(double value, int decimals = 4);

// The member when it is there and of this type, else null. For JSON from our own tables.
Json MemberText(const Json& object, const char* key);
Json MemberInteger(const Json& object, const char* key);
Json MemberArray(const Json& object, const char* key);  // empty rather than null

// The text of a member of a Json or OrderedJson, without a copy of the member: empty when there is
// no such text.
template <typename Object>
std::string TextOf(const Object& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->template get<std::string>() : "";
}

OrderedJson NullIfEmpty(std::string_view text);

}  // namespace stepscope

#include "core/base/json_members.h"

#include <cmath>

#include "core/base/time.h"

namespace stepscope {
namespace {

template <typename Holds>
Json Member(const Json& object, const char* key, Holds holds, Json otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  return found != object.end() && holds(*found) ? *found : otherwise;
}

}  // namespace

void PutTime(OrderedJson& json, const std::string& key, std::optional<std::int64_t> at_us) {
  json[key] = at_us ? OrderedJson(ToRfc3339(FromMicros(*at_us))) : OrderedJson(nullptr);
  json[key + "_us"] = at_us ? OrderedJson(*at_us) : OrderedJson(nullptr);
}

double Rounded(double value, int decimals) {
  const double unit = std::pow(10.0, decimals);
  const double rounded = std::round(value * unit) / unit;
  return std::isfinite(rounded) ? rounded : value;
}

Json MemberText(const Json& object, const char* key) {
  return Member(
      object, key, [](const Json& json) { return json.is_string(); }, nullptr);
}

Json MemberInteger(const Json& object, const char* key) {
  return Member(
      object, key, [](const Json& json) { return json.is_number_integer(); }, nullptr);
}

Json MemberArray(const Json& object, const char* key) {
  return Member(
      object, key, [](const Json& json) { return json.is_array(); }, Json::array());
}

OrderedJson NullIfEmpty(std::string_view text) {
  return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

}  // namespace stepscope

#include "server/api/http/body.h"

#include <algorithm>

#include "core/base/text.h"

namespace stepscope {
namespace {

const Json* Find(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

// A key as part of a JSON pointer (RFC 6901).
std::string Escaped(std::string_view key) {
  std::string escaped;
  for (const char c : key) {
    if (c == '~') escaped += "~0";
    if (c == '/') escaped += "~1";
    if (c != '~' && c != '/') escaped += c;
  }
  return escaped;
}

}  // namespace

Body::Body(const Request& request) {
  if (request.body.empty()) return;
  Result<Json> json = ParseJson(request.body);
  if (json.ok() && json->is_object()) {
    root_ = std::move(*json);
    return;
  }
  Note("", json.ok() ? "JSON: an object is wanted" : json.error().message);
  readable_ = false;
}

void Body::Note(std::string pointer, const std::string& detail) {
  if (!readable_) return;
  faults_.push_back({std::move(pointer), "", detail});
}

Reply Body::Refusal(const Request& request) const {
  const Fault& first = faults_.front();
  const std::string where = first.pointer.empty() ? "" : first.pointer.substr(1) + ": ";
  return ToReply(Problem{"invalid-body", where + first.detail, faults_, {}}, request);
}

void Body::AllowOnly(const Json& object, const std::string& pointer,
                     std::initializer_list<std::string_view> names) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::count(names, std::string_view(key)) > 0) continue;
    const std::string shown = Printable(key, 64);
    Note(pointer + "/" + Escaped(shown), Format("there is no member '{}' here", shown));
  }
}

std::string Body::Text(const Json& object, const std::string& pointer, const char* name,
                       std::size_t most) {
  const Json* member = Find(object, name);
  if (!member) return "";
  const std::string where = Format("{}/{}", pointer, name);
  if (!member->is_string()) {
    Note(where, "text is wanted");
    return "";
  }
  std::string text = member->get<std::string>();
  if (text.size() > most)
    Note(where, Format("has {} bytes, at most {} are taken", text.size(), most));
  if (ValidUtf8(text) != text) Note(where, "has control characters");
  return text;
}

std::int64_t Body::Integer(const Json& object, const std::string& pointer, const char* name,
                           std::int64_t least, std::int64_t most, std::int64_t fallback) {
  const Json* member = Find(object, name);
  if (!member) return fallback;
  const std::string where = Format("{}/{}", pointer, name);
  if (!member->is_number_integer()) {
    Note(where, "a whole number is wanted");
    return fallback;
  }
  const auto number = member->get<std::int64_t>();
  if (number >= least && number <= most) return number;
  Note(where, Format("{} is not within {} to {}", number, least, most));
  return fallback;
}

bool Body::Bool(const Json& object, const std::string& pointer, const char* name, bool fallback) {
  const Json* member = Find(object, name);
  if (!member) return fallback;
  if (member->is_boolean()) return member->get<bool>();
  Note(Format("{}/{}", pointer, name), "true or false is wanted");
  return fallback;
}

Json Body::Object(const Json& object, const std::string& pointer, const char* name) {
  const Json* member = Find(object, name);
  if (!member) return Json::object();
  if (member->is_object()) return *member;
  Note(Format("{}/{}", pointer, name), "an object is wanted");
  return Json::object();
}

Json Body::Array(const Json& object, const std::string& pointer, const char* name,
                 std::size_t most) {
  const Json* member = Find(object, name);
  if (!member) return Json::array();
  const std::string where = Format("{}/{}", pointer, name);
  if (!member->is_array()) {
    Note(where, "a list is wanted");
    return Json::array();
  }
  if (member->size() <= most) return *member;
  Note(where, Format("has {} items, at most {} are taken", member->size(), most));
  return Json::array();
}

}  // namespace stepscope

#include "core/model/names.h"

#include <algorithm>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongest = 63;

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

Status CheckJobName(std::string_view name) {
  const bool letters =
      std::ranges::all_of(name, [](char c) { return IsAlphanumeric(c) || c == '-'; });
  if (name.empty() || name.size() > kLongest) {
    return Invalid(Format("job name '{}': must have 1 to 63 characters, has {}",
                          Printable(name, 80), name.size()));
  }
  if (!letters) {
    return Invalid(
        Format("job name '{}': only letters, digits and '-' are allowed", Printable(name)));
  }
  if (!IsAlphanumeric(name.front()) || !IsAlphanumeric(name.back())) {
    return Invalid(Format("job name '{}': must start and end with a letter or digit", name));
  }
  return {};
}

Status CheckLabel(std::string_view what, std::string_view label) {
  if (label.empty() || label.size() > kLongest) {
    return Invalid(Format("{} '{}': must have 1 to 63 bytes, has {}", what, Printable(label, 80),
                          label.size()));
  }
  const bool control = std::ranges::any_of(
      label, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (control || ValidUtf8(label) != label) {
    return Invalid(
        Format("{} '{}': must be UTF-8 without control characters", what, Printable(label)));
  }
  return {};
}

}  // namespace stepscope

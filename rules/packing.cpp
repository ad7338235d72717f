#include "rules/packing.h"

#include "core/base/text.h"

namespace stepscope {

std::string PackNumbers(const std::vector<std::uint64_t>& numbers) {
  std::string bytes;
  for (std::uint64_t number : numbers) {
    for (; number >= 0x80; number >>= 7) bytes += static_cast<char>((number & 0x7f) | 0x80);
    bytes += static_cast<char>(number);
  }
  return ToBase64(bytes);
}

Result<std::vector<std::uint64_t>> UnpackNumbers(const Json& packed, std::size_t most) {
  if (!packed.is_string()) return Invalid("state: packed numbers are not text");
  const auto bytes = FromBase64(packed.get_ref<const std::string&>());
  if (!bytes.ok()) return bytes.error();
  std::vector<std::uint64_t> numbers;
  std::uint64_t number = 0;
  int shift = 0;
  for (const char byte : *bytes) {
    const auto bits = static_cast<std::uint64_t>(static_cast<unsigned char>(byte) & 0x7f);
    if (shift > 63 || (shift == 63 && bits > 1))
      return Invalid("state: a packed number is too big");
    number |= bits << shift;
    shift += 7;
    if ((static_cast<unsigned char>(byte) & 0x80) != 0) continue;
    if (numbers.size() == most) return Invalid(Format("state: more than {} packed numbers", most));
    numbers.push_back(number);
    number = 0;
    shift = 0;
  }
  if (shift != 0) return Invalid("state: packed numbers end too early");
  return numbers;
}

}  // namespace stepscope

#include "rules/engine/packing.h"

#include "core/base/text.h"
#include "core/wire/bytes.h"

namespace stepscope {

std::string PackNumbers(const std::vector<std::uint64_t>& numbers) {
  std::string bytes;
  for (const std::uint64_t number : numbers) PutVarint(bytes, number);
  return bytes;
}

Result<std::vector<std::uint64_t>> UnpackNumbers(std::string_view packed, std::size_t most) {
  std::vector<std::uint64_t> numbers;
  ByteReader reader(packed);
  while (reader.left() > 0) {
    if (numbers.size() == most) return Invalid(Format("state: more than {} packed numbers", most));
    numbers.push_back(reader.TakeVarint());
    if (!reader.ok()) return Invalid("state: a packed number is cut or too big");
  }
  return numbers;
}

}  // namespace stepscope

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace stepscope {

// Unsigned numbers as text for a rule's state: small ones cost one byte (varints in base64).
std::string PackNumbers(const std::vector<std::uint64_t>& numbers);

// Invalid when it is not what PackNumbers gave or holds more than `most` numbers.
Result<std::vector<std::uint64_t>> UnpackNumbers(const Json& packed, std::size_t most);

// A number at each of some positions, none of them below 0, as text: a map of some hundred entries
// in JSON costs a rule more than all else in its state.
class PackedMap : public std::map<std::int64_t, std::int64_t, std::less<>> {
 public:
  static constexpr std::size_t kMost = 4'096;

  std::string Save() const;
  Status Load(const Json& packed);
};

}  // namespace stepscope

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/table.h"

namespace stepscope {

// A way to store the values of one column, to be compared with ours. `decode` gives back what
// `encode` got, for any values.
struct Codec {
  std::string_view name;
  bool doubles;  // the values are the bits of doubles
  std::string (*encode)(const Column& column);
  std::vector<std::int64_t> (*decode)(std::string_view bytes, std::size_t rows);
};

std::span<const Codec> Codecs();

}  // namespace stepscope

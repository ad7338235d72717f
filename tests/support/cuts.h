#pragma once

// Cuts bytes into pieces, as a network does.

#include <random>
#include <string_view>
#include <vector>

namespace stepscope {

using Pieces = std::vector<std::string_view>;

inline Pieces CutAt(std::string_view bytes, std::size_t at) {
  return {bytes.substr(0, at), bytes.substr(at)};
}

inline Pieces CutEverywhere(std::string_view bytes) {
  Pieces pieces;
  for (std::size_t at = 0; at < bytes.size(); ++at) pieces.push_back(bytes.substr(at, 1));
  return pieces;
}

// Cuts into pieces of 0 to `most` bytes.
inline Pieces CutAnyhow(std::string_view bytes, std::mt19937& dice, std::size_t most) {
  Pieces pieces;
  while (!bytes.empty()) {
    pieces.push_back(bytes.substr(0, dice() % (most + 1)));
    bytes.remove_prefix(pieces.back().size());
  }
  return pieces;
}

}  // namespace stepscope

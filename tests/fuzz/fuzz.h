#pragma once

// Functions for every target. A target is one function, which takes any bytes and stops the program
// when a promise is broken. libFuzzer calls it with inputs that it invents, replay.cpp with the
// corpus.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace stepscope {

inline std::string_view ToBytes(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void Require(bool holds, std::string_view promise, std::string_view more = "") {
  if (holds) return;
  std::fprintf(stderr, "BROKEN: %.*s\n%.*s\n", static_cast<int>(promise.size()), promise.data(),
               static_cast<int>(more.size()), more.data());
  std::abort();
}

inline void RequireSame(std::string_view one, std::string_view other, std::string_view promise) {
  if (one == other) return;
  Require(false, promise, std::string(one) + "\n--- and ---\n" + std::string(other));
}

// Random numbers that are the same for the same input.
inline std::mt19937 DiceOf(std::string_view bytes) {
  return std::mt19937(static_cast<unsigned>(std::hash<std::string_view>{}(bytes)));
}

}  // namespace stepscope

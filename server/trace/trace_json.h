#pragma once

#include <cstdint>

#include "core/base/json_members.h"

namespace stepscope {

// Numbers of a trace as answers have them.

inline double SecondsOf(std::int64_t ns) {
  return Rounded(double(ns) / 1e9, 9);
}

// 0 of nothing.
inline double ShareOf(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? Rounded(double(part) / double(whole), 6) : 0;
}

}  // namespace stepscope

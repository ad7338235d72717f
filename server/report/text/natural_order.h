#pragma once

#include <string_view>
#include <tuple>

namespace stepscope {

// Whether a name comes before another as people count: node-2 before node-10. Names that differ in
// nothing but zeros before a number are in the order of their letters.
bool IsBefore(std::string_view name, std::string_view other);

// Orders keys of several names, by the first name first.
struct NaturalOrder {
  template <typename... Names>
  bool operator()(const std::tuple<Names...>& one, const std::tuple<Names...>& other) const {
    return Less<0>(one, other);
  }

 private:
  template <std::size_t at, typename Key>
  static bool Less(const Key& one, const Key& other) {
    if constexpr (at == std::tuple_size_v<Key>) {
      return false;
    } else {
      if (IsBefore(std::get<at>(one), std::get<at>(other))) return true;
      if (IsBefore(std::get<at>(other), std::get<at>(one))) return false;
      return Less<at + 1>(one, other);
    }
  }
};

}  // namespace stepscope

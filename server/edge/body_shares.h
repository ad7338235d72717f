#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/guarded.h"

namespace stepscope {

// The bytes of all large bodies that wait in files, by whose they are. Of what others leave, one
// may have three quarters, so that there is always room for somebody else; "" may have all, as
// nobody knows who that is. Safe from any thread.
class BodyShares {
 public:
  explicit BodyShares(std::uint64_t most) : most_(most) {}

  // Takes so many more bytes; false, and nothing is taken, where there is no room for them.
  bool Take(const std::string& whose, std::uint64_t bytes);
  void Return(const std::string& whose, std::uint64_t bytes);

 private:
  struct Taken {
    std::uint64_t all = 0;
    std::map<std::string, std::uint64_t> by_whom;  // only of those who have some
  };
  const std::uint64_t most_;
  Guarded<Taken> taken_;
};

}  // namespace stepscope

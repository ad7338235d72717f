#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

namespace stepscope {

// How many connections each address has that have not yet shown whose they are. An IPv6 network of
// 64 bits counts as one address: its owner has all of them. For one thread.
class Addresses {
 public:
  explicit Addresses(std::size_t most) : most_(most) {}  // 0: no limit

  // False when the address has too many already. What is added is `key`, "" for nothing.
  bool Add(const std::string& peer, std::string& key);
  void Remove(std::string& key);

 private:
  const std::size_t most_;
  std::unordered_map<std::string, std::size_t> counts_;
};

}  // namespace stepscope

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

namespace stepscope {

// Counts the connections of each address that have not yet had a caller. An IPv6 network of 64 bits
// counts as one address, because one owner has all of it. For one thread.
class Addresses {
 public:
  // `most`: 0 for no limit. `speaks_for_many`: addresses that do not count, such as a proxy's.
  explicit Addresses(std::size_t most,
                     std::function<bool(const std::string&)> speaks_for_many = nullptr)
      : most_(most), speaks_for_many_(std::move(speaks_for_many)) {}

  // False when the address has too many already. `key` is what Remove takes; "" where the address
  // does not count.
  bool Add(const std::string& peer, std::string& key);
  void Remove(std::string& key);

 private:
  const std::size_t most_;
  const std::function<bool(const std::string&)> speaks_for_many_;
  std::unordered_map<std::string, std::size_t> counts_;
};

}  // namespace stepscope

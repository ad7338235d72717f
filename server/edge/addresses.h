#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

namespace stepscope {

// How many connections each address has that have not yet shown whose they are. An IPv6 network of
// 64 bits counts as one address: its owner has all of them. For one thread.
class Addresses {
 public:
  // `most`: 0 for no limit. `speaks_for_many`: addresses that do not count, such as a proxy's.
  explicit Addresses(std::size_t most,
                     std::function<bool(const std::string&)> speaks_for_many = nullptr)
      : most_(most), speaks_for_many_(std::move(speaks_for_many)) {}

  // False when the address has too many already. What is added is `key`, "" for nothing.
  bool Add(const std::string& peer, std::string& key);
  void Remove(std::string& key);

 private:
  const std::size_t most_;
  const std::function<bool(const std::string&)> speaks_for_many_;
  std::unordered_map<std::string, std::size_t> counts_;
};

}  // namespace stepscope

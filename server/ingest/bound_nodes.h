#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/guarded.h"

namespace stepscope {

// The senders that nodes were found to belong to, for 30 s, so that not every group asks the
// database. Bounded. Safe from any thread.
class BoundNodes {
 public:
  static constexpr std::int64_t kFreshUs = 30'000'000;
  static constexpr std::size_t kMostNodes = 20'000;

  bool IsOf(const std::string& node, const std::string& sender, std::int64_t now_us) const;
  void Put(const std::string& node, const std::string& sender, std::int64_t now_us);

 private:
  struct Entry {
    std::string sender;
    std::int64_t put_us = 0;
  };
  Guarded<std::map<std::string, Entry>> entries_;
};

}  // namespace stepscope

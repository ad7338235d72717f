#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>

#include "core/base/guarded.h"
#include "core/base/time.h"
#include "server/ingest/check/checked_push.h"

namespace stepscope {

// The series that each sender named within a day, so that one whose names never end does not fill
// the tables. A sender is the name of a token. Bounded; lost with the process. Safe from any
// thread.
class SeriesNames {
 public:
  static constexpr Duration kDay = std::chrono::hours(24);
  static constexpr std::size_t kMostSenders = 1'000;

  explicit SeriesNames(std::int64_t most) : most_(static_cast<std::size_t>(most)) {}

  // Takes the series that the schemas of the push name. False, and none taken, when they are too
  // many.
  bool Take(const CheckedPush& push, SteadyTime now);

 private:
  using Names = std::unordered_set<std::uint64_t>;
  struct Day {
    SteadyTime since{};
    Names names;  // hashes: one in 2^64 is taken for another
  };
  static Names NamesIn(const CheckedPush& push);

  const std::size_t most_;
  Guarded<std::map<std::string, Day>> days_;
};

}  // namespace stepscope

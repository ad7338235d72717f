#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/base/guarded.h"
#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// Jobs whose machine did not answer, or of which another transaction holds rows, and for how long
// their pushes are refused at once: a writer that waits for them writes nothing else. From 0.5 s,
// twice as long each time, up to 4 s, or as long as is said. Bounded. Safe from any thread.
class JobPauses {
 public:
  static constexpr Duration kFirst = 500ms, kLongest = 4s;
  static constexpr std::size_t kMostJobs = 10'000;

  explicit JobPauses(Duration longest = kLongest) : longest_(longest) {}

  // A group of the job was stored, or was not.
  void Note(const std::string& job, const Status& stored, SteadyTime now);
  bool IsPaused(const std::string& job, SteadyTime now) const;
  std::vector<std::string> Noted() const;  // those that were not stored last, paused still or not

 private:
  struct Pause {
    Duration length{};
    SteadyTime until{};
  };
  const Duration longest_;
  Guarded<std::map<std::string, Pause>> pauses_;
};

}  // namespace stepscope

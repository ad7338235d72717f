#pragma once

#include <map>
#include <string>

#include "core/base/guarded.h"
#include "core/wire/frame.h"

namespace stepscope {

// The streams of samples that come without numbers: one for each node, made by this process and
// used by nobody else, so that its cursor counts what was stored. Bounded: when it is full it
// starts anew, with new streams. Safe from any thread.
class SampleSessions {
 public:
  static constexpr std::size_t kMost = 4096;

  std::string Of(const std::string& node) {
    return sessions_.Change([&](auto& sessions) {
      if (!sessions.contains(node) && sessions.size() >= kMost) sessions.clear();
      std::string& session = sessions[node];
      if (session.empty()) {
        const Session fresh = NewSession();
        session.assign(fresh.begin(), fresh.end());
      }
      return session;
    });
  }

 private:
  Guarded<std::map<std::string, std::string>> sessions_;
};

}  // namespace stepscope

#pragma once

#include <string_view>

#include "core/base/json.h"
#include "core/base/time.h"

namespace stepscope {

// The outcome of one attempt to send a message.
struct Attempt {
  Time at{};
  Duration took{};
  int status = 0;          // HTTP status; 0 when there was no answer
  Duration retry_after{};  // for which the target asks to be left alone
  std::string answer;      // the beginning of the answer
  std::string error;       // why there was no answer
};
// The entry of the log: at, at_us, status, duration_ms, answer, error.
Json ToJson(const Attempt& attempt);

// The next step for a message and its webhook.
struct Decision {
  std::string_view state;  // delivered, ready (again) or dead
  Duration again_in{};
  bool disable = false;  // the target wants no more messages at all
};

// 2xx is delivered; 410 ends the webhook; three answers of another 4xx, but 408, 425 and 429, end
// the message; everything else is tried again after 5 s, 30 s, 5 min, 30 min, 2 h, 5 h and 10 h,
// times `stretch` but not before the target asked for it, and then dead. `before` are the attempts
// in the log before this one.
Decision Decide(const Attempt& attempt, const Json& before, double stretch);

}  // namespace stepscope

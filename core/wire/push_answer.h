#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// The service's report on one frame that it refuses while the cursor moves past it.
struct RejectedFrame {
  std::uint64_t sequence = 0;
  std::string code;    // "bad-table", "unknown-metric", "job-ended", ...
  std::string detail;  // one sentence
};

// A request of the service to an agent. It is in each answer until the agent has replied in a
// lifecycle frame.
struct ServiceCommand {
  std::string id;    // "interval-3"; the agent answers an id once
  std::string kind;  // "interval", "window", "stop", "spans", or a kind of a later service
  std::int64_t interval_ms = 0;  // 100 to 60,000; 0 for other kinds
  // For a window, the steps for which operators and kernels are recorded; for spans, the steps
  // whose annotations are kept.
  std::int64_t start_step = 0;
  std::int64_t num_steps = 0;
  // For spans: the window's number, and how long the agent waits for its last step.
  std::int64_t window_id = 0;
  std::int64_t wait_seconds = 0;
  bool operators = false;  // for spans: operators and kernels are wanted, too
  bool shapes = false;     // and the shapes of their inputs
};
inline constexpr std::string_view kIntervalCommand = "interval";
inline constexpr std::string_view kWindowCommand = "window";
inline constexpr std::string_view kStopCommand = "stop";  // end what the agent runs
inline constexpr std::string_view kSpansCommand = "spans";

// The 200 answer to a push, which is of one session.
struct PushAnswer {
  std::uint64_t acknowledged = 0;  // highest number that is stored or skipped
  std::uint64_t expected = 1;      // next number that the service wants
  std::vector<RejectedFrame> rejected;
  Time server_time{};
  std::vector<ServiceCommand> commands{};
};

std::string EncodePushAnswer(const PushAnswer& answer);

// Invalid for any other text, such as a proxy's HTML.
Result<PushAnswer> DecodePushAnswer(std::string_view json);

// The answer to a refused push: the problem's code ("gap", "unknown-schema", ...) and, for a gap,
// the number wanted.
struct PushProblem {
  std::string code;
  std::uint64_t expected = 0;
  std::string detail;
};
Result<PushProblem> DecodePushProblem(std::string_view json);

}  // namespace stepscope

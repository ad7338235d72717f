#pragma once

#include <memory>
#include <string>

#include "agent/send/uplink.h"
#include "agent/spool/waiting_traces.h"

namespace stepscope {

// A connection for traces, which need longer than a push does.
Result<std::unique_ptr<Uplink>> MakeTraceUplink(UplinkOptions options);

// Between two tries of a trace: longer each time, up to the second one.
inline constexpr Duration kTracePause = std::chrono::seconds(2);
inline constexpr Duration kLongestTracePause = std::chrono::seconds(30);

// What became of a trace that was sent.
struct TraceAnswer {
  enum class End {
    kTaken,
    kRefused,     // for ever
    kUnknownJob,  // which is no fault while the job's start is on its way
    kLater,       // the service is away, busy or does not take the token
  };
  End end = End::kLater;
  std::string reason{};  // why it was not taken
  Duration wait{};       // so long the service asks to wait
};

// Sends a trace once.
TraceAnswer PostTrace(Uplink& uplink, const WaitingTrace& trace);

}  // namespace stepscope

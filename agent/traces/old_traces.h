#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "agent/spool/waiting_traces.h"
#include "agent/traces/post_trace.h"

namespace stepscope {

// Sends the traces that ended agents have left in the spool, the oldest first. To be asked once
// their samples are delivered: a job that the service does not know by then is one that it removed.
// For one thread. `spool` outlives it.
class OldTraces {
 public:
  // Sends only what is meant for this service; empty: all.
  OldTraces(SpoolFolder& spool, std::string service);

  // Sends one. Returns how long to wait before the next call.
  Duration Step(Uplink& uplink);

  bool empty() const { return next_.empty(); }
  std::size_t sent() const { return sent_; }
  // The names of what waits, and why the last one was not taken: "" when it was.
  std::vector<std::string> Left() const;
  const std::string& reason() const { return reason_; }

 private:
  struct Waiting {
    WaitingTraces* folder = nullptr;
    std::string file{};
    std::string name{};
  };
  Duration Finish(const std::string& said);

  const std::string service_;
  std::vector<std::unique_ptr<WaitingTraces>> folders_;
  std::deque<Waiting> next_;
  std::size_t sent_ = 0;
  std::string reason_;
  Duration pause_{};
};

}  // namespace stepscope

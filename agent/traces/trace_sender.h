#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "agent/marks/closer.h"
#include "agent/marks/intake.h"
#include "agent/send/uplink.h"
#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "core/base/worker.h"

namespace stepscope {

// Sends the trace files that training processes pass, one after the other, on a niced thread that
// begins with the first one. What they pass is only data: anything that is not a file of a sensible
// size is dropped. While the service is away a file waits, packed, in memory for at most 10
// minutes, and at most 8 files wait; what is dropped is logged with its reason. Any thread may call
// it; `clock` outlives it.
class TraceSender {
 public:
  TraceSender(UplinkOptions uplink, std::string job, const Clock& clock);
  ~TraceSender();

  // Never waits.
  void Add(RankTrace trace);

  // Waits until all files are sent or dropped, at most so long, and then drops what is left.
  void Finish(Duration patience);

 private:
  struct State {
    std::deque<RankTrace> queue;
    bool busy = false, finishing = false;
    SteadyTime until{};  // the end of the patience, when it is finishing
  };
  void Run(std::stop_token stop);
  void Send(RankTrace trace, std::stop_token stop);
  std::string SendBody(const std::string& path, const std::string& body, std::stop_token stop);
  void Drop(RankTrace trace, std::string_view reason);
  bool GivesUp(SteadyTime began, std::stop_token stop) const;

  UplinkOptions uplink_;
  const std::string job_;
  const Clock& clock_;
  const Closer closer_;  // to close what a process has passed may take long
  Guarded<State> state_;
  Guarded<Worker> worker_;
};

}  // namespace stepscope

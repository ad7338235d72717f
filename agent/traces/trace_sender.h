#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/marks/closer.h"
#include "agent/marks/intake.h"
#include "agent/send/uplink.h"
#include "agent/spool/waiting_traces.h"
#include "agent/traces/pack_trace.h"
#include "agent/traces/post_trace.h"
#include "agent/traces/trace_turns.h"
#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "core/base/worker.h"

namespace stepscope {

// Sends the trace files that training processes pass, one after the other, on a niced thread that
// begins with the first one. What they pass is only data: anything that is not a file of a sensible
// size is dropped. While the service is away they wait, packed, in the spool, where another agent
// finds what this one could not send; without a spool one waits for at most 10 minutes. They are
// packed in turns (TraceTurns), and lie in files from then on.
// At most 8 wait to be packed. What is dropped is logged with its reason. Any thread may call it;
// `spool`, null where there is none, and `clock` outlive it.
class TraceSender {
 public:
  // `turns` are those of all jobs of the agent; null where it has one.
  TraceSender(const UplinkOptions& uplink, std::string job, SpoolFolder* spool, const Clock& clock,
              TraceTurns* turns = nullptr);
  ~TraceSender();

  // Never waits.
  void Add(RankTrace trace);

  // Waits until all are sent or dropped, at most so long, and then for as long as it takes to bring
  // what is left to the spool, at most 10 s. Returns how many wait there, for others to send. Once.
  std::size_t Finish(Duration patience);

 private:
  struct State {
    std::deque<RankTrace> queue;
    bool busy = false, finishing = false;
    std::size_t waiting = 0;  // in the spool
    SteadyTime until{};       // the end of the patience, when it is finishing
  };
  void Run(std::stop_token stop);
  std::optional<RankTrace> Next();
  void Take(RankTrace trace, std::stop_token stop);
  bool Keep(const WaitingTrace& packed);
  bool IsOver(const WaitingTrace& packed, const TraceAnswer& answer, bool knows_jobs);
  void SendWaiting();
  std::size_t CountWaiting();
  void Forget(const std::string& file);
  Result<PackedBody> Pack(const RankTrace& trace);
  void RetryUntilOver(const WaitingTrace& packed, std::stop_token stop);
  void Drop(RankTrace trace, std::string_view reason);
  bool GivesUp(SteadyTime began, std::stop_token stop) const;

  const std::string job_, service_;
  SpoolFolder* const spool_;
  const Clock& clock_;
  TraceTurns own_turns_;
  TraceTurns& turns_;
  const Closer closer_;  // to close what a process has passed may take long
  Result<std::unique_ptr<Uplink>> uplink_;

  // The thread alone uses these.
  std::unique_ptr<WaitingTraces> waiting_;
  SteadyTime next_try_{};     // when the oldest in the spool is tried again
  SteadyTime first_tried_{};  // when it was tried first
  Duration pause_{};

  Guarded<State> state_;
  Guarded<Worker> worker_;
};

}  // namespace stepscope

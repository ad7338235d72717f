#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "agent/frames/framer.h"
#include "agent/marks/intake.h"
#include "agent/marks/live_ranks.h"
#include "agent/send/sender.h"
#include "core/base/clock.h"
#include "core/base/descriptor.h"
#include "core/base/guarded.h"
#include "core/base/worker.h"

namespace stepscope {

// Returns the marks of the job's training processes since the last call.
using DrainMarks = std::function<IntakeBatch()>;

// Takes a trace file of a rank; never waits.
using TakeTrace = std::function<void(RankTrace)>;

struct DeliveryParts {
  FrameStream& stream;
  TickFramer& ticks;
  MarkFramer& marks;
  Sender& sender;
  DrainMarks drain;  // not set when no training process can connect
  const Clock& clock;
  LiveRanks& live;
  // Reads the token again; true when it differs from the one that was refused.
  std::function<bool()> new_token = [] { return false; };
  // Takes the trace files of the ranks; not set: they are closed unread.
  TakeTrace take_trace = nullptr;
};

// Cuts frames at each push interval and sends them, until the job's end is delivered. Stores them
// on disk while the service is away, on a thread of its own, since a push may take long. The parts
// outlive it.
class Delivery {
 public:
  Delivery(const DeliveryParts& parts, Duration push_interval);
  ~Delivery();

  // Appends the last frame, behind the remaining marks, and sends everything as fast as it can. No
  // tick may be added any more. Without an event the job goes on and has no end.
  void Finish(std::string ended_event);

  // Ends a push in flight and begins no other; undelivered frames stay in the stream.
  void Stop();

  // Readable when all is delivered, or never will be.
  int done_descriptor() const { return done_.get(); }

  // Whether the service wants nothing more of this job.
  bool Over() const;

  // The reason why frames are undelivered; "" when the service takes all.
  std::string Reason() const;

 private:
  struct State {
    bool finishing = false;
    bool over = false;
    std::string ended_event;
    std::string reason;
  };

  void Run(std::stop_token stop);
  void Store(std::stop_token stop);
  void CutAll();
  bool SendDue(bool finishing, SteadyTime now);

  DeliveryParts parts_;
  const Duration push_interval_;
  SteadyTime next_send_{};
  Guarded<State> state_;
  std::mutex cutting_;
  Descriptor done_;
  Worker worker_, store_worker_;
};

}  // namespace stepscope

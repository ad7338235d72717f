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

// Takes out what the training processes of the job marked.
using DrainMarks = std::function<IntakeBatch()>;

struct DeliveryParts {
  FrameStream& stream;
  TickFramer& ticks;
  MarkFramer& marks;
  Sender& sender;
  DrainMarks drain;  // not set when no training process can be heard
  const Clock& clock;
  LiveRanks& live;
  // Whether there is another token than the one that was refused.
  std::function<bool()> new_token = [] { return false; };
};

// Cuts frames at each push interval and sends them, until the end is said and delivered. Brings
// them to disk while the service is away, on a thread of its own, since a push may wait for long.
// The parts outlive it.
class Delivery {
 public:
  Delivery(const DeliveryParts& parts, Duration push_interval);
  ~Delivery();

  // The last frame: the marks that are left go before it, and everything is sent as fast as it can
  // be. No tick may be added any more. Without an event the job goes on, and is not said to end.
  void Finish(std::string ended_event);

  // No push is begun any more, and none goes on; what is left stays in the stream.
  void Stop();

  // Readable when all is delivered, or can never be.
  int done_descriptor() const { return done_.get(); }

  // The service wants nothing more of this job.
  bool Over() const;

  // Why not everything is delivered yet; "" when the service takes all.
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

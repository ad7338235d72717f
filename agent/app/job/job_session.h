#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <string>

#include "agent/app/job/delivery.h"
#include "agent/frames/framer.h"
#include "agent/frames/lifecycle.h"
#include "agent/send/sender.h"
#include "agent/send/uplink.h"
#include "agent/spool/frame_stream.h"

namespace stepscope {

struct JobSessionOptions {
  std::string job{}, node{};
  Duration push = 2s;
  // Executes a command of the service; returns the reason why not, or "" when it is done. Called on
  // the session's own thread.
  std::function<std::string(const ServiceCommand& command)> obey = nullptr;
  SpoolFolder* spool = nullptr;    // where frames wait on disk; null: in memory
  std::string service{};           // the service that they are for
  TakeTrace take_trace = nullptr;  // called on the session's own threads
  StreamCount* streams = nullptr;  // sessions that share the memory of frames; null: this one alone
};

// One job on this node, for one life of the agent: its frames from the cut to the acknowledgement,
// on a thread of its own. Any thread may call it. The references, and what `drain` uses, outlive
// it.
class JobSession {
 public:
  JobSession(const JobSessionOptions& options, Uplink& uplink, DrainMarks drain,
             const Clock& clock);

  void Add(Time at, const TickRow& row) { ticks_.Add(at, row); }

  // Tells the service what the job and the node are, in place of an earlier start. Marks wait for
  // the first call, ticks must come after it.
  void SendStart(const JobStart& start);

  // No tick may be added any more; all frames are sent as fast as possible.
  void Finish(std::string ended_event) { delivery_.Finish(std::move(ended_event)); }

  // Ends the delivery; undelivered frames wait in the spool for the next agent. True when nothing
  // is lost.
  bool HandOver() {
    delivery_.Stop();
    return stream_.HandOver();
  }

  // The delivery's state: see Delivery.
  bool Over() const { return delivery_.Over(); }
  int done_descriptor() const { return delivery_.done_descriptor(); }
  std::string Reason() const { return delivery_.Reason(); }

  // The state of the ranks, as of the newest push.
  std::vector<LiveRank> Ranks() const { return live_.Read(); }

  // Figures of the frames that wait for the service.
  SpoolFigures figures() const { return stream_.figures(); }

 private:
  void ExecuteCommand(const ServiceCommand& command);
  // Delays the marks until the start is sent: the service accepts nothing for a job before that.
  DrainMarks AfterStart(DrainMarks drain) const;

  const Clock& clock_;
  const std::function<std::string(const ServiceCommand& command)> obey_;
  std::set<std::string> answered_;  // ids of commands; the service asks until it has the answer
  std::atomic<bool> start_sent_ = false;
  FrameStream stream_;
  TickFramer ticks_;
  MarkFramer marks_;
  LiveRanks live_;
  Sender sender_;
  Delivery delivery_;
};

}  // namespace stepscope

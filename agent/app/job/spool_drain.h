#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/app/job/old_sessions.h"
#include "agent/send/uplink.h"
#include "core/base/guarded.h"
#include "core/base/worker.h"

namespace stepscope {

// Delivers sessions, and then traces, that other agents have left in the spool, on a thread and
// connections of its own, until it is destroyed. What is not delivered stays in the spool. The
// references outlive it.
class SpoolDrain {
 public:
  // Does nothing without a folder.
  SpoolDrain(SpoolFolder* folder, const UplinkOptions& uplink, const Clock& clock);
  ~SpoolDrain();

  // Waits, but not for long, until the service knows all sessions of the job in the spool: once a
  // job ends, it accepts no session that it does not know.
  void AwaitKnown(const std::string& job) const;

  // Searches the spool again for sessions that were left since. Any thread.
  void Rescan();

 private:
  struct State {
    bool rescan = true;                  // the spool is to be searched
    bool scanned = false;                // the spool was searched to its end
    std::vector<std::string> unknown{};  // jobs with sessions that the service does not know
  };

  void Run(std::stop_token stop);
  void DeliverAll(const std::stop_token& stop);
  void SendTraces(const std::stop_token& stop);
  void Note(const OldSessions& sessions);

  SpoolFolder* const folder_;
  const std::string service_;
  const Clock& clock_;
  std::unique_ptr<Uplink> uplink_, traces_uplink_;
  Guarded<State> state_;
  Worker worker_;
};

}  // namespace stepscope

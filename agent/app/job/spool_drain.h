#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/app/job/old_sessions.h"
#include "agent/send/uplink.h"
#include "core/base/guarded.h"
#include "core/base/worker.h"

namespace stepscope {

// Delivers what other agents have left in the spool, on a thread and a connection of its own, until
// it is destroyed. What remains stays in the spool. The references outlive it.
class SpoolDrain {
 public:
  // Without a folder there is nothing to do.
  SpoolDrain(SpoolFolder* folder, const UplinkOptions& uplink, const Clock& clock);
  ~SpoolDrain();

  // A job that ends takes no more sessions that the service does not know. Waits until it knows all
  // of this one's, but not for long.
  void AwaitKnown(const std::string& job) const;

  // There is more: what was left since is delivered behind the rest. Any thread.
  void Rescan();

 private:
  struct State {
    bool rescan = true;                  // there is something to look for
    bool scanned = false;                // into the spool, for all that there is
    std::vector<std::string> unknown{};  // jobs with sessions that the service does not know
  };

  void Run(std::stop_token stop);
  void DeliverAll(const std::stop_token& stop);
  void Note(const OldSessions& sessions);

  SpoolFolder* const folder_;
  const std::string service_;
  const Clock& clock_;
  std::unique_ptr<Uplink> uplink_;
  Guarded<State> state_;
  Worker worker_;
};

}  // namespace stepscope

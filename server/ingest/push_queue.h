#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "server/ingest/group.h"
#include "server/ingest/group_signal.h"
#include "server/ingest/job_machines.h"
#include "server/ingest/push_lanes.h"

namespace stepscope {

using PushBatch = std::vector<std::unique_ptr<WaitingPush>>;

// The queue between senders of pushes and the threads that write them. Bounded by number and
// bytes, and for each job by how long its first push has waited: a queue that is longer than
// anybody waits does harm. Of the bytes that others leave, a sender may have three quarters and a
// job half, and of the number three quarters a sender with a name, so that there is always room for
// somebody else. A machine of a cluster may have half of
// the threads, lest one that hangs takes all. Safe from any thread.
class PushQueue {
 public:
  static constexpr Duration kHangsAfter = 2s;

  // All outlive this.
  PushQueue(const IngestOptions& options, const Clock& clock, const JobMachines& machines)
      : options_(options), clock_(clock), machines_(machines) {}

  // Whether a push of so many bytes would be taken now: those that would not need no check.
  bool HasRoomFor(const std::string& sender, const std::string& job, std::size_t bytes) const;
  // False, and the push stays the caller's, when there is no room, or none any more.
  bool Add(std::unique_ptr<WaitingPush>& push);
  void Close();  // from now on there is no room

  bool WaitForSome(const std::stop_token& stop, Duration at_most) const {
    return signal_.WaitForSome(stop, at_most);
  }
  void WaitUntilFull(const std::stop_token& stop, Duration at_most) const {
    (void)signal_.WaitUntilFull(stop, at_most);
  }
  bool some() const { return signal_.some(); }

  PushBatch TakeLate();  // pushes whose senders have ceased to wait
  // As many pushes, in turns, as go into one transaction. Where several threads write they are of
  // one job, which nobody else writes until its release.
  PushBatch TakeBatch();
  // A batch that was taken counts with its bytes until it is answered.
  struct Taken {
    std::string job;
    std::size_t bytes = 0;
  };
  void Release(const Taken& taken);
  // Whether a batch of the job's machine, or of the job, has been written for longer than a machine
  // takes that answers, and has not answered since. Never where one thread writes.
  bool Hangs(const std::string& job) const;

  void FillFigures(IngestFigures& figures) const;

 private:
  struct Content {
    PushLanes waiting;
    std::size_t written = 0;                       // bytes that are being stored
    std::map<std::string, SteadyTime> jobs_taken;  // since when; where several threads write
    bool closed = false;
  };
  bool one_writer() const { return options_.writers == 1; }
  PushLanes::MayGo MayGo(const Content& content) const;
  PushBatch TakeMixed(PushLanes& waiting) const;
  bool HasRoom(const Content& content, const std::string& sender, const std::string& job,
               std::size_t bytes) const;
  void Signal(const Content& content);

  const IngestOptions& options_;
  const Clock& clock_;
  const JobMachines& machines_;
  Guarded<Content> content_;
  GroupSignal signal_;
};

}  // namespace stepscope

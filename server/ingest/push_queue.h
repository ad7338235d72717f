#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <vector>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "server/ingest/group.h"
#include "server/ingest/group_signal.h"
#include "server/ingest/push_lanes.h"

namespace stepscope {

using PushBatch = std::vector<std::unique_ptr<WaitingPush>>;

// The queue between senders of pushes and the one thread that writes them. Bounded by number and
// bytes, and for each job by how long its first push has waited: a queue that is longer than
// anybody waits does harm. Of the bytes that others leave, a sender may have three quarters and a
// job half, so that there is always room for somebody else. Safe from any thread.
class PushQueue {
 public:
  // Both outlive this.
  PushQueue(const IngestOptions& options, const Clock& clock) : options_(options), clock_(clock) {}

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

  PushBatch TakeLate();   // pushes whose senders have ceased to wait
  PushBatch TakeBatch();  // as many pushes, in turns, as go into one transaction
  // A batch that was taken counts with its bytes until it is answered.
  void Release(std::size_t bytes);

  void FillFigures(IngestFigures& figures) const;

 private:
  struct Content {
    PushLanes waiting;
    std::size_t written = 0;  // bytes that are being stored
    bool closed = false;
  };
  bool HasRoom(const Content& content, const WaitingPush& push) const;
  void Signal(const Content& content);

  const IngestOptions& options_;
  const Clock& clock_;
  Guarded<Content> content_;
  GroupSignal signal_;
};

}  // namespace stepscope

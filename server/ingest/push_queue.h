#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <stop_token>
#include <vector>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "server/ingest/group.h"
#include "server/ingest/group_signal.h"

namespace stepscope {

// A push that waits for the writer, and its outcome.
struct WaitingPush {
  CheckedPush push;
  std::size_t bytes = 0;
  SteadyTime since{};
  TakeReply take;
  PushOutcome outcome;  // outcome of the parts stored so far
};
using PushBatch = std::vector<std::unique_ptr<WaitingPush>>;

// The queue between senders of pushes and the one thread that writes them. Bounded by number, by
// bytes and by how long the first has waited: a queue that is longer than anybody waits does harm.
// Safe from any thread.
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
  PushBatch TakeBatch();  // as many of the first pushes as go into one transaction
  // A batch that was taken counts with its bytes until it is answered.
  void Release(std::size_t bytes);

  void FillFigures(IngestFigures& figures) const;

 private:
  struct Content {
    std::deque<std::unique_ptr<WaitingPush>> waiting;
    std::size_t frames = 0, bytes = 0;
    bool closed = false;
  };
  static std::unique_ptr<WaitingPush> TakeFirst(Content& content);
  bool HasRoom(const Content& content, std::size_t bytes) const;
  void Signal(const Content& content);

  const IngestOptions& options_;
  const Clock& clock_;
  Guarded<Content> content_;
  GroupSignal signal_;
};

}  // namespace stepscope

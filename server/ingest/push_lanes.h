#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "server/ingest/group.h"

namespace stepscope {

// A push that waits for the writer, and its outcome.
struct WaitingPush {
  CheckedPush push;
  std::size_t bytes = 0;
  SteadyTime since{};
  TakeReply take;
  PushOutcome outcome;  // outcome of the parts stored so far
};

// Pushes that wait, in turns: of each sender in turn, and of its jobs in turn, so that whoever
// sends much delays itself. Within a job they stay in order.
class PushLanes {
 public:
  using Waiting = std::unique_ptr<WaitingPush>;

  void Add(Waiting push);
  // The push whose turn it is; null when none waits.
  const WaitingPush* Next() const;
  Waiting TakeNext();
  // Pushes of one sender and one job, in order, until they have `most_frames`; at least one. The
  // job is the one whose turn it is among those that `may` go; empty when none of them waits.
  using MayGo = std::function<bool(const std::string& job)>;
  std::vector<Waiting> TakeJob(const MayGo& may, std::size_t most_frames);
  bool HasJob(const MayGo& may) const;
  // Takes the pushes that came before then.
  std::vector<Waiting> TakeBefore(SteadyTime then);

  bool empty() const { return pushes_ == 0; }
  std::size_t pushes() const { return pushes_; }
  std::size_t frames() const { return frames_; }
  // Bytes that wait, of all, of a sender, and of a sender's job.
  std::size_t bytes() const { return bytes_; }
  std::size_t BytesOf(const std::string& sender) const;
  std::size_t PushesOf(const std::string& sender) const;
  std::size_t BytesOf(const std::string& sender, const std::string& job) const;
  // When the oldest push came: of all, and of a sender's job; none when none waits.
  // Among jobs that may go; all may where nothing is given.
  std::optional<SteadyTime> Oldest(const MayGo& may = nullptr) const;
  std::optional<SteadyTime> Oldest(const std::string& sender, const std::string& job) const;
  // When the oldest push came of the sender whose pushes wait least; none where one sender with a
  // name waits alone. A sender without a name is several, nobody knows how many.
  std::optional<SteadyTime> LeastOldest(const MayGo& may = nullptr) const;

 private:
  struct Job {
    std::string name;
    std::deque<Waiting> waiting;
    std::size_t bytes = 0;
  };
  struct Sender {
    std::string name;
    std::list<Job> jobs;  // the first one's turn comes next
    std::map<std::string, std::list<Job>::iterator, std::less<>> by_name;
    std::size_t bytes = 0, pushes = 0;
  };
  using Senders = std::list<Sender>;

  // The names of the sender and the job whose turn it is; nullopt where none may go.
  std::optional<std::pair<std::string, std::string>> NextJob(const MayGo& may) const;
  static std::optional<SteadyTime> OldestOf(const Sender& sender, const MayGo& may);
  const Job* Find(const std::string& sender, const std::string& job) const;
  Waiting TakeFrom(Senders::iterator sender, std::list<Job>::iterator job);

  Senders senders_;  // the first one's turn comes next
  std::map<std::string, Senders::iterator, std::less<>> by_name_;
  std::size_t pushes_ = 0, frames_ = 0, bytes_ = 0;
};

}  // namespace stepscope

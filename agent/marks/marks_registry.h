#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/marks/closer.h"
#include "agent/marks/intake.h"
#include "agent/marks/marks_bounds.h"
#include "agent/marks/marks_job.h"
#include "agent/marks/marks_process.h"
#include "agent/marks/marks_room.h"
#include "agent/marks/marks_socket.h"
#include "agent/marks/shares.h"
#include "agent/marks/user_rate.h"
#include "core/base/descriptor.h"

namespace stepscope {

// The connected processes and their jobs. Never waits: what processes leave is closed by the
// closer. Not for use by several threads at once.
class MarkRegistry {
 public:
  // `unwatch` hears of a socket before that is given to the closer, when its number may become
  // another file's.
  using Unwatch = std::function<void(int socket)>;
  MarkRegistry(const IntakeOptions& options, const Clock& clock, Closer closer,
               Unwatch unwatch = nullptr);

  // Accepts all waiting processes, or refuses them, which is logged; returns the sockets to watch.
  // Unavailable when there are no descriptors left.
  Result<std::vector<int>> Accept(const Descriptor& listener);

  // Whether somebody connected more often than a user may since this was asked last: the next ones
  // can wait.
  bool TakeFlood() { return std::exchange(flood_, false); }

  // Takes in a process that connected, or refuses it. Whether it was taken.
  bool Add(MarkPeer peer);

  // Takes the messages of the process behind `socket`, and drops it when it has ended or errs.
  // Whether it is still connected.
  bool Serve(int socket);

  // Reads all rings, and drops processes that have said no hello in time.
  void ReadRings();

  // Like the functions of Intake, without serving the processes, and TakeEvaluated without reading
  // the rings.
  IntakeBatch Drain(const std::string& job);
  void TakeEvaluated(const std::string& name, const UseEvaluated& use);
  void TakeMetrics(const std::string& job, const UseMetric& use);
  std::size_t Ask(const std::string& job, const std::string& command, const std::string& argument);
  std::string KeepSpans(const std::string& job, const SpanWindow& window);
  std::vector<HeardJob> Jobs() const;
  std::uint64_t changes() const { return changes_; }
  bool Forget(const std::string& job);

  // Whether a process is connected.
  bool HasPeers() const { return !peers_.empty(); }

 private:
  struct Peer {
    std::unique_ptr<MarkProcess> process;
    std::uint32_t user = 0;
    SteadyTime came{};
    JobRecord* job = nullptr;  // null: refused, or without a hello or a name yet
    bool waits = false;        // its job's name is being found out
  };
  using Peers = std::map<int, Peer>;

  // The room of one user, and when it got marks last.
  struct Reading {
    MarkRoom room{};
    SteadyTime filled{};
  };

  // What the users have of a bound, of `amount` of each connected process.
  template <typename Amount>
  Shares SharesOf(std::size_t most, Amount amount) const;
  // The memory that stays.
  void SumBytes(Shares& bytes) const;
  // The reason why this process is refused; empty when it is not.
  std::string ReasonAgainst(const MarkPeer& peer) const;
  Status CheckSize(const Peer& peer) const;
  void DropSilent();
  // Gives each user's room as much as there is now.
  void FillRooms();
  MarkRoom& RoomOf(std::uint32_t user) { return reading_[user].room; }
  void LimitSteps();
  // Nothing while it is not known.
  std::optional<Result<std::string>> NameOf(const Peer& peer) const;
  Result<JobRecord*> JobOf(const Peer& peer, const std::string& name);
  Status CheckRank(const Peer& peer, const JobRecord& job) const;
  void Introduce(Peer& peer);
  // The job, after reading the rings of its processes; null where there is none.
  JobRecord* Read(const std::string& job);
  void Remove(Peers::iterator place);
  void Refuse(MarkProcess& process, std::string_view reason);
  void Report(std::string_view sentence);

  const IntakeOptions options_;
  const Clock& clock_;
  const Closer closer_;
  Unwatch unwatch_;
  std::size_t span_room_ = Intake::kMostWindowSpans;  // of all jobs
  std::map<std::string, JobRecord> jobs_;
  Peers peers_;
  std::map<std::uint32_t, Reading> reading_;  // by user
  Shares sums_, held_, bytes_;                // as of the newest FillRooms
  SteadyTime filled_{};                       // time of the newest FillRooms
  UserRate connections_{kConnectionsAtOnce, kConnectionsASecond};
  UserRate messages_{kMessagesInABurst, kMessagesASecond};
  UserRate begun_{kJobsInADay, kJobsInADay / 86'400};  // jobs
  bool flood_ = false;
  std::uint64_t changes_ = 0;  // changes of connected processes
  SteadyTime quiet_until_{};
  std::int64_t suppressed_ = 0;
};

}  // namespace stepscope

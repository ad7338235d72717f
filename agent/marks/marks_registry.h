#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/marks/intake.h"
#include "agent/marks/marks_process.h"
#include "agent/marks/marks_rank.h"
#include "agent/marks/marks_socket.h"
#include "core/base/descriptor.h"

namespace stepscope {

// The connected processes and the ranks they belong to; waits for nothing. Not for use by several
// threads at once.
class MarkRegistry {
 public:
  MarkRegistry(const IntakeOptions& options, const Clock& clock)
      : options_(options), clock_(clock) {}

  // Takes all waiting processes in, or refuses them by name; returns the sockets to be watched.
  // Unavailable when there are no descriptors left.
  Result<std::vector<int>> Accept(const Descriptor& listener);

  // Takes the messages of the process behind `socket`, and drops it when it has ended or errs.
  void Serve(int socket);

  void ReadRings();

  // As Intake::Drain.
  IntakeBatch Drain();

 private:
  // What the service was told of a rank, beside what is yet to be told.
  struct Rank {
    RankRecord record;
    std::vector<MarkProcess*> processes;  // in the order in which they came
    std::string told;                     // facts as last reported
    std::string pending;                  // facts that its last process left behind
    Time came{};                          // when it was first heard of since it last ended
    bool known = false;                   // reported as started, and not as ended since
  };
  using Processes = std::map<int, std::unique_ptr<MarkProcess>>;

  // The reason why this process is not heard; empty when it is.
  std::string ReasonAgainst(const MarkPeer& peer) const;
  void Introduce(MarkProcess& process);
  void Remove(Processes::iterator place);
  void Refuse(MarkProcess& process, std::string_view reason);
  void Report(std::string_view sentence);
  void DrainRank(std::int32_t number, Rank& rank, IntakeBatch& batch);
  std::string FactsOf(const Rank& rank) const;

  const IntakeOptions options_;
  const Clock& clock_;
  Processes processes_;
  std::map<std::int32_t, Rank> ranks_;
  std::size_t ring_bytes_ = 0;  // mapped for all of them
  SteadyTime quiet_until_{};
  std::int64_t unsaid_ = 0;
};

}  // namespace stepscope

#pragma once

// The agents of a made job: the data of its nodes, as frames through the agent's own stream and
// sender.

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "agent/send/sender.h"
#include "tests/scenarios/training.h"

namespace stepscope::scenarios {

// A clock that is ahead of another.
class AheadClock : public Clock {
 public:
  AheadClock(const Clock& clock, Duration ahead) : clock_(clock), ahead_(ahead) {}
  Time Now() const override { return clock_.Now() + ahead_; }
  SteadyTime Steady() const override { return clock_.Steady(); }
  Duration ahead() const { return ahead_; }

 private:
  const Clock& clock_;
  const Duration ahead_;
};

// The agent of one node. A restart of the job ends it without a last frame; the next agent has a
// session of its own.
class MadeAgent {
 public:
  // The references outlive the agent.
  MadeAgent(const Training& training, const Job& job, std::size_t node, std::string name,
            Sender::Post post, const Clock& clock);

  // Queues the data of the node before `end`, by the clock of the service.
  void AppendUntil(Time end);

  // Queues the end of the command, interrupted at a time of the service's clock; nothing comes
  // after it.
  void Interrupt(Time at);

  // Sends one push of the queued data; returns how long to wait before the next call, as
  // Sender::Send does.
  Duration Send();

  bool over() const { return !lives_.empty() && lives_.back().sender.over(); }
  bool forbidden() const { return !lives_.empty() && lives_.back().sender.forbidden(); }
  // The reason why the last push was not taken.
  std::string reason() const { return lives_.empty() ? "" : lives_.back().sender.reason(); }
  std::uint64_t samples() const { return samples_; }

 private:
  struct Life {
    Life(const StreamOwner& owner, const Sender::Post& post, const Clock& clock)
        : stream(owner, SpoolLimits{.bytes = 256 * 1024 * 1024}, clock),
          sender(stream, post, clock) {}
    FrameStream stream;
    Sender sender;
  };

  void Begin(Time at);
  void Say(const Json& event);
  void AppendRanks(Time end);
  void AppendSteps(std::size_t rank, Time end);
  void AppendTicks(Time end);
  void AppendTicks(std::size_t from, std::size_t to);
  void AppendEnd();
  void AppendTable(FrameKind kind, const Schema& schema, const Table& table, std::size_t time,
                   std::size_t samples);
  const RankSteps& RankOf(std::size_t local) const;
  std::optional<Time> NextRestart(Time end) const;

  const Training& training_;
  const Job& job_;
  const std::size_t node_;
  const std::string name_;
  const Sender::Post post_;
  const AheadClock clock_;
  std::list<Life> lives_;
  Time began_{};
  bool ranks_said_ = false, ended_ = false;
  std::size_t ticks_ = 0;           // ticks queued so far
  std::vector<std::size_t> steps_;  // steps queued so far, of each rank on the node
  std::uint64_t samples_ = 0;
};

}  // namespace stepscope::scenarios

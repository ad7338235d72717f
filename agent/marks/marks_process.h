#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/marks/closer.h"
#include "agent/marks/held_steps.h"
#include "agent/marks/intake.h"
#include "agent/marks/marks_fold.h"
#include "agent/marks/marks_rank.h"
#include "agent/marks/marks_ring.h"
#include "agent/marks/marks_room.h"
#include "agent/marks/marks_socket.h"
#include "agent/marks/wall_offset.h"
#include "core/base/clock.h"
#include "core/base/descriptor.h"

namespace stepscope {

// One connected training process: its socket, its names and its rings. Its messages are folded into
// the record of its rank. After any error it must be dropped. Its socket, and descriptors that it
// passed and that are no rings, are closed by the closer. Not for use by several threads at once.
class MarkProcess {
 public:
  enum class State { kOpen, kEnded };

  // `clock` outlives it.
  MarkProcess(MarkPeer peer, const Clock& clock, Closer closer)
      : socket_(std::move(peer.socket)),
        user_(peer.user),
        group_(peer.group),
        closer_(std::move(closer)),
        offset_(clock) {
    source_.pid = peer.pid;
  }
  MarkProcess(const MarkProcess&) = delete;
  ~MarkProcess();

  // Takes the messages that have arrived, at most 512. kEnded after bye or at the connection's end;
  // an error is the process's fault.
  Result<State> Receive();

  // Reads the rings into `rank`, as far as `room`, which it lowers, has room.
  void ReadRings(RankRecord& rank, MarkRoom& room);

  // Gives up the marks that there was no room to read: no more come. They count as dropped.
  void SkipMarks();

  // Hands over everything that is left; `rank` forgets this process.
  void Detach(RankRecord& rank, MarkRoom& room);

  // Tells the process whether its hello was accepted; never waits.
  void Answer(bool refused, const std::string& detail);

  // Takes no descriptors any more, where the kernel can refuse them.
  void TakeNoRings() { TakeNoDescriptors(socket_); }

  // Sends a command; never waits. The process reads it at the end of its step, and its answer
  // becomes a fact of that name. False when it cannot be sent now.
  bool Ask(const std::string& command, const std::string& argument);

  // Takes out the trace files that it has passed.
  std::vector<RankTrace> TakeTraces() { return std::exchange(traces_, {}); }

  // Whether it was sent a command and has not answered.
  bool OwesAnswer() const { return !asked_.empty(); }
  // What it said to the newest command: why it refused, or a remark; "" else.
  const std::string& outcome() const { return outcome_; }

  bool introduced() const { return introduced_; }
  std::size_t messages() const { return messages_; }  // that it has sent
  std::int32_t rank() const { return source_.hello.rank; }
  HeardProcess Heard() const;
  const MarkSource& source() const { return source_; }
  MarkCaller caller() const { return {source_.pid, user_, group_}; }
  std::size_t rings() const { return rings_.size(); }
  std::size_t ring_bytes() const;
  // Memory that stays as long as the process is connected, about: names, facts, metrics.
  std::size_t bytes() const { return bytes_; }
  std::size_t waiting_sums() const { return annotations_.size(); }
  std::size_t held_steps() const;

 private:
  struct Ring {
    MarkRingReader reader;
    StepFold fold;
    std::int64_t pid = 0;     // the process that marks
    std::int32_t thread = 0;  // numbered in the order of arrival
    Duration offset{};        // between the node's clocks, when the ring arrived
    // Wall time minus the clock of the marks, now: the header has it as of the ring's start.
    Duration clock_base{};
    HeldSteps held{};
  };
  struct NamedSpan {
    std::uint16_t name = 0;
    SpanMark span;
  };
  using Passed = std::vector<Descriptor>;
  Result<State> Take(std::string_view bytes, Passed& passed);
  Result<State> Take(const MarkMessage& message, Passed& passed);
  Status AddRing(Passed& passed);
  void TakeTrace(const MarkTrace& trace, Passed& passed);
  void TakeNames(const MarkNames& names);
  // By its number; "" until it is declared.
  const std::string& NameOf(std::uint16_t id) const;
  void ReadRing(Ring& ring, RankRecord& rank, MarkRoom& room);
  void TakeMark(const Mark& mark, Ring& ring, RankRecord& rank, MarkRoom& room);
  // Hands over to the rank everything whose name is known; `all`: everything, as no name comes any
  // more.
  void HandOver(RankRecord& rank, bool all, MarkRoom& room);
  void TakeAnnotation(const Mark& mark, Ring& ring, RankRecord& rank, MarkRoom& room);
  void TakeMetric(const Mark& mark, const Ring& ring, MarkRoom& room);
  void TakeAnswer(const MarkAnswer& answer);
  void SetFact(const std::string& key, const std::string& value);
  void Count();

  Descriptor socket_;
  const std::uint32_t user_, group_;
  const Closer closer_;
  WallOffset offset_;
  bool introduced_ = false;
  std::size_t messages_ = 0;
  std::size_t bytes_ = 0;
  std::int64_t no_room_ = 0;      // marks that were read and for which there was no room
  std::uint32_t asked_id_ = 0;    // id of the newest command
  std::string asked_, argument_;  // the newest command
  std::string outcome_;
  MarkSource source_;
  std::vector<std::string> names_;  // by id; empty until one is declared
  const std::string no_name_{};
  // Annotations whose name is unknown yet, by id and bin of their durations.
  std::map<std::pair<std::uint16_t, int>, AnnotationSums> annotations_;
  std::vector<NamedSpan> spans_;  // spans of a window whose name is unknown yet
  // Metrics whose name is unknown yet, by id; none: handed over.
  std::map<std::uint16_t, std::optional<MetricValue>> metrics_;
  std::vector<RankTrace> traces_;
  std::vector<std::unique_ptr<Ring>> rings_;  // by pointer: an address identifies a ring
};

}  // namespace stepscope

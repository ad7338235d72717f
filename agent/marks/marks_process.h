#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/marks/marks_fold.h"
#include "agent/marks/marks_rank.h"
#include "agent/marks/marks_ring.h"
#include "agent/marks/wall_offset.h"
#include "core/base/clock.h"
#include "core/base/descriptor.h"

namespace stepscope {

// One connected training process: its socket, its names and its rings. What it sends is folded into
// the record of its rank. After any error it is to be dropped. Not for use by several threads at
// once.
class MarkProcess {
 public:
  enum class State { kOpen, kEnded };

  // `clock` outlives it.
  MarkProcess(Descriptor socket, std::int64_t pid, const Clock& clock)
      : socket_(std::move(socket)), offset_(clock) {
    source_.pid = pid;
  }

  // Takes the messages that are there, at most 512. Ended by bye, by the connection's end, or by an
  // error, which is what the process did wrong.
  Result<State> Receive();

  // Reads all rings into `rank`.
  void ReadRings(RankRecord& rank);

  // The last of it: `rank` no longer knows this process.
  void Detach(RankRecord& rank);

  // Tells the process whether its hello was taken; never waits.
  void Answer(bool refused, const std::string& detail);

  // Asks the process for something; never waits. It hears of it at the end of its step, and what it
  // answers is a fact of that name. False when it cannot be told now.
  bool Ask(const std::string& command, const std::string& argument);

  bool introduced() const { return introduced_; }
  std::int32_t rank() const { return source_.hello.rank; }
  const MarkSource& source() const { return source_; }
  std::size_t ring_bytes() const;

 private:
  struct Ring {
    MarkRingReader reader;
    StepFold fold;
    std::int32_t thread = 0;  // in the order in which they came
    Duration offset{};        // between the node's clocks, when the ring came
    // Wall time minus the clock of the marks, now: the writer says it once.
    Duration clock_base{};
  };
  struct NamedSpan {
    std::uint16_t name = 0;
    SpanMark span;
  };
  Result<State> Take(const MarkMessage& message, const Descriptor& passed);
  Status AddRing(const Descriptor& memory);
  void TakeMark(const Mark& mark, Ring& ring, RankRecord& rank);
  // Gives the rank what is named by now; `all`: no name comes any more.
  void HandOver(RankRecord& rank, bool all);
  void TakeAnnotation(const Mark& mark, const Ring& ring, RankRecord& rank);
  void TakeMetric(const Mark& mark, const Ring& ring);
  void TakeAnswer(const MarkAnswer& answer);
  void SetFact(const std::string& key, const std::string& value);
  void Count();

  Descriptor socket_;
  WallOffset offset_;
  bool introduced_ = false;
  std::size_t messages_ = 0;
  std::uint32_t asked_id_ = 0;    // of the newest command
  std::string asked_, argument_;  // what it was
  MarkSource source_;
  std::vector<std::string> names_;  // by id; empty where none was declared yet
  // By id and bin of their durations, until the name is known.
  std::map<std::pair<std::uint16_t, int>, AnnotationSums> annotations_;
  std::vector<NamedSpan> spans_;  // of a window, until the name is known
  // By id, until the name is known; none: it was handed over.
  std::map<std::uint16_t, std::optional<MetricValue>> metrics_;
  std::vector<std::unique_ptr<Ring>> rings_;  // their addresses stand for them
};

}  // namespace stepscope

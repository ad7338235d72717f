#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/marks/intake.h"

namespace stepscope {

// One time that an annotation was open, as its mark says it, with the clock of the marks.
struct SpanMark {
  std::uint64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t wall_ns = 0;  // when it began, since the epoch
  std::int64_t process = 0;
  std::int32_t thread = 0;
};

// The spans of one rank for one window. A span belongs to the step in whose time it ends, whichever
// thread or process of the rank marked it; what ends in no whole step of the window is let go.
// Spans may come before the step that they belong to: they wait for its end.
class WindowSpans {
 public:
  // `newest` is the last step that ended, -1 before the first; `begun`: the one behind it is under
  // way, so a window that begins there is too late. `room`, which is shared by all ranks and
  // outlives the window, says how many more spans may be held or handed over.
  void Open(const SpanWindow& window, std::int64_t newest, bool begun, std::size_t& room);
  void Close() { *this = WindowSpans(); }
  bool open() const { return room_ != nullptr; }

  // Whether what is marked now may belong to it.
  bool Wanted() const;
  void AddStep(std::int64_t number, std::uint64_t start_ns, std::uint64_t end_ns);
  // "" is a name that is not known.
  void AddSpan(const std::string& name, const SpanMark& span);
  // Marks were lost before they could be read.
  void Lose(std::int64_t marks);
  // All rings were read: spans that waited go to the steps that have ended.
  void Settle();
  // The last process of the rank is gone.
  void EndRank() { rank_ended_ = true; }

  // No step of the window comes any more.
  bool Over() const { return late_ || rank_ended_ || newest_ >= window_.last; }
  // A step has ended, of the window or before it.
  bool HasSteps() const { return newest_ >= 0; }
  // At least one of its steps was there.
  bool Recorded() const { return !steps_.empty(); }
  std::int64_t spans() const { return handed_over_; }
  std::int64_t dropped() const { return dropped_; }
  // What there is to say of it when it is over; "" when all went well.
  std::string Shortfall() const;

  // Takes out those of steps that have ended, in the order in which they began.
  RankSpans Take();

 private:
  struct StepTime {
    std::int64_t number;
    std::uint64_t start_ns, end_ns;
  };
  struct Waiting {
    std::uint64_t end_ns;
    WindowSpan span;
  };
  bool Begun() const { return newest_ + 1 >= window_.first; }
  std::int32_t IndexOf(const std::string& name);
  void Place(const Waiting& waiting);

  SpanWindow window_;
  std::size_t* room_ = nullptr;
  std::int64_t newest_ = -1;
  bool late_ = false, rank_ended_ = false;
  std::uint64_t known_until_ns_ = 0;  // the end of the newest step
  std::vector<StepTime> steps_;       // of the window, one behind the other
  std::vector<Waiting> waiting_;
  std::vector<WindowSpan> placed_;
  std::vector<std::string> names_;
  std::map<std::string, std::int32_t> index_of_name_;
  std::int64_t handed_over_ = 0, dropped_ = 0;
};

}  // namespace stepscope

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/marks/intake.h"

namespace stepscope {

// One span of an annotation as its mark has it, by the clock of the marks.
struct SpanMark {
  std::uint64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t wall_ns = 0;  // start, since the epoch
  std::int64_t process = 0;
  std::int32_t thread = 0;
};

// The spans of one rank in one window. A span belongs to the step in whose time it ends, whichever
// thread or process of the rank marked it; a span that ends outside the window's steps is dropped.
// Spans may come before the step that they belong to: they wait for its end.
class WindowSpans {
 public:
  // `newest` is the last step that ended, -1 before the first; `begun`: the next step has begun, so
  // a window that starts with it is too late. `room`, which all windows share and which outlives
  // them, is the number of further spans that may be kept; it gets those of this one back when it
  // is closed.
  void Open(const SpanWindow& window, std::int64_t newest, bool begun, std::size_t& room);
  void Close();
  bool open() const { return room_ != nullptr; }

  // Whether present marks may belong to the window.
  bool Wanted() const;
  void AddStep(std::int64_t number, std::uint64_t start_ns, std::uint64_t end_ns);
  // An unknown name is "".
  void AddSpan(const std::string& name, const SpanMark& span);
  // Marks were lost before they could be read.
  void Lose(std::int64_t marks);
  // Called when all rings were read: spans that waited go to the steps that have ended.
  void Settle();
  // Called when the last process of the rank is gone.
  void EndRank() { rank_ended_ = true; }

  // Whether no step of the window comes any more.
  bool Over() const { return late_ || rank_ended_ || newest_ >= window_.last; }
  // Whether a step has ended, in the window or before it.
  bool HasSteps() const { return newest_ >= 0; }
  // Whether the window has at least one step.
  bool Recorded() const { return !steps_.empty(); }
  std::int64_t spans() const { return handed_over_; }
  std::int64_t dropped() const { return dropped_; }
  // The reason why spans are missing when the window is over; "" when none is.
  std::string Shortfall() const;

  // Takes out the spans of steps that have ended, in the order of their starts.
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
  std::size_t kept_ = 0;  // spans taken of the room
  std::int64_t newest_ = -1;
  bool late_ = false, rank_ended_ = false;
  std::uint64_t known_until_ns_ = 0;  // end of the newest step
  std::vector<StepTime> steps_;       // steps of the window, without gaps
  std::vector<Waiting> waiting_;
  std::vector<WindowSpan> placed_;
  std::vector<std::string> names_;
  std::map<std::string, std::int32_t> index_of_name_;
  std::int64_t handed_over_ = 0, dropped_ = 0;
};

}  // namespace stepscope

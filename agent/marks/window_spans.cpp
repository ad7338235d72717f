#include "agent/marks/window_spans.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::int64_t kNear = 64;  // steps that may end while the rings of a rank are read
constexpr std::size_t kMostSpanNames = 512;
constexpr const char* kOtherSpans = "(other)";

}  // namespace

void WindowSpans::Open(const SpanWindow& window, std::int64_t newest, bool begun,
                       std::size_t& room) {
  Close();
  window_ = window;
  newest_ = newest;
  late_ = window.first < newest + (begun ? 2 : 1);
  room_ = &room;
}

void WindowSpans::Close() {
  if (open()) *room_ += kept_;
  *this = WindowSpans();
}

bool WindowSpans::Wanted() const {
  return open() && !late_ && !rank_ended_ && newest_ + kNear >= window_.first;
}

void WindowSpans::AddStep(std::int64_t number, std::uint64_t start_ns, std::uint64_t end_ns) {
  // The spans of a step far before the window were not kept during it.
  const bool kept = Wanted();
  newest_ = number;
  known_until_ns_ = end_ns;
  if (!kept || number < window_.first || number > window_.last) return;
  // Ends must grow, since spans are placed by them; a faulty process may send others.
  if (!steps_.empty() && end_ns < steps_.back().end_ns) return;
  steps_.push_back({number, start_ns, end_ns});
}

std::int32_t WindowSpans::IndexOf(const std::string& name) {
  const bool full = names_.size() >= kMostSpanNames && !index_of_name_.contains(name);
  const std::string& taken = full || name.empty() ? kOtherSpans : name;
  const auto [place, fresh] =
      index_of_name_.emplace(taken, static_cast<std::int32_t>(names_.size()));
  if (fresh) names_.push_back(taken);
  return place->second;
}

void WindowSpans::AddSpan(const std::string& name, const SpanMark& span) {
  if (!Wanted()) return;
  if (*room_ == 0) {
    if (Begun()) ++dropped_;
    return;
  }
  --*room_;
  ++kept_;
  const std::uint64_t end_ns = span.start_ns + static_cast<std::uint64_t>(span.duration_ns);
  const Waiting one{end_ns,
                    {IndexOf(name), span.thread, span.process, 0, span.wall_ns, span.duration_ns}};
  if (end_ns > known_until_ns_) {
    waiting_.push_back(one);
  } else {
    Place(one);
  }
}

void WindowSpans::Place(const Waiting& waiting) {
  const auto step = std::ranges::lower_bound(steps_, waiting.end_ns, {}, &StepTime::end_ns);
  if (step == steps_.end() || waiting.end_ns < step->start_ns) {
    ++*room_;
    --kept_;
    return;
  }
  placed_.push_back(waiting.span);
  placed_.back().step = step->number;
}

void WindowSpans::Lose(std::int64_t marks) {
  if (Wanted() && Begun()) dropped_ += marks;
}

void WindowSpans::Settle() {
  for (const Waiting& each : waiting_) {
    if (each.end_ns <= known_until_ns_) Place(each);
  }
  std::erase_if(waiting_, [&](const Waiting& each) { return each.end_ns <= known_until_ns_; });
}

std::string WindowSpans::Shortfall() const {
  const std::int64_t wanted = window_.last - window_.first + 1;
  const auto whole = static_cast<std::int64_t>(steps_.size());
  if (whole == wanted) return "";
  if (late_) return Format("step {} had begun", window_.first);
  if (newest_ >= window_.last) return Format("{} of {} steps are whole", whole, wanted);
  const std::string newest = newest_ < 0 ? "no step ended" : Format("the newest is {}", newest_);
  return Format("{} {}, {}", rank_ended_ ? "ended before step" : "did not come to step",
                window_.last, newest);
}

RankSpans WindowSpans::Take() {
  RankSpans taken;
  if (placed_.empty()) return taken;
  handed_over_ += static_cast<std::int64_t>(placed_.size());
  taken.window_id = window_.window_id;
  taken.names = names_;
  // Spans that waited for the end of their step were placed behind younger ones.
  std::ranges::stable_sort(placed_, {}, &WindowSpan::start_ns);
  taken.rows = std::exchange(placed_, {});
  return taken;
}

}  // namespace stepscope

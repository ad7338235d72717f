#include "core/trace/event_stream.h"

#include <cstring>

namespace stepscope {
namespace {

constexpr std::size_t kFirstCapacity = 1024 * 1024, kMostCapacity = 16 * 1024 * 1024;
constexpr std::size_t kLookAhead = 256;  // to see an event by its brace and its first key
constexpr std::string_view kEventsKey = "\"traceEvents\"";

void SkipSeparators(JsonCursor& cursor) {
  while (cursor.at != cursor.end && (*cursor.at == ',' || IsJsonSpace(*cursor.at))) ++cursor.at;
}

// Whether an event begins at this brace: behind it stands a key that events have, and before it
// nothing that belongs to a member.
bool BeginsEvent(const char* begin, const char* brace, const char* end) {
  const char* before = brace;
  while (before != begin && IsJsonSpace(before[-1])) --before;
  if (before != begin && before[-1] == ':') return false;
  const char* at = brace + 1;
  while (at != end && IsJsonSpace(*at)) ++at;
  const std::string_view rest(at, static_cast<std::size_t>(end - at));
  for (const std::string_view key :
       {"\"ph\"", "\"name\"", "\"cat\"", "\"pid\"", "\"tid\"", "\"ts\"", "\"id\""}) {
    if (rest.starts_with(key)) return true;
  }
  return false;
}

}  // namespace

EventStream::EventStream(ByteSource& source, EventSink sink, TraceFaults& faults)
    : source_(source),
      sink_(std::move(sink)),
      faults_(faults),
      capacity_(kFirstCapacity),
      buffer_(std::make_unique_for_overwrite<char[]>(capacity_)),
      cursor_{buffer_.get(), buffer_.get()} {}

void EventStream::Count(std::string_view reason) {
  const auto found = faults_.find(reason);
  if (found != faults_.end()) {
    ++found->second;
  } else {
    faults_.emplace(reason, 1);
  }
}

// Keeps what was not read yet and adds bytes behind it. False at the end of the file, and when one
// value fills all the memory there is for one.
bool EventStream::Refill() {
  if (ended_) return false;
  const auto kept = static_cast<std::size_t>(cursor_.end - cursor_.at);
  if (kept == capacity_) {
    if (capacity_ == kMostCapacity) return false;
    auto larger = std::make_unique_for_overwrite<char[]>(capacity_ *= 2);
    std::memcpy(larger.get(), cursor_.at, kept);
    buffer_ = std::move(larger);
  } else {
    std::memmove(buffer_.get(), cursor_.at, kept);
  }
  std::size_t filled = kept;
  while (filled < capacity_) {
    const std::size_t got = source_.Read({buffer_.get() + filled, capacity_ - filled});
    if (got == 0) {
      ended_ = true;
      break;
    }
    filled += got;
  }
  bytes_ += filled - kept;
  cursor_.at = buffer_.get();
  cursor_.end = buffer_.get() + filled;
  return filled > kept;
}

// Calls `read` until its value is in memory as a whole, once more with stricter ends of texts when
// it is broken. After anything but kOk the cursor is where it was.
template <typename Read>
Scan EventStream::Attempt(const Read& read) {
  for (cursor_.strict_ends = false;;) {
    const auto start = cursor_.at;
    const Scan scan = read();
    if (scan == Scan::kOk) {
      if (cursor_.strict_ends) Count("unescaped_text");
      cursor_.strict_ends = false;
      return scan;
    }
    cursor_.at = start;
    if (scan == Scan::kMore) {
      if (Refill()) continue;
      cursor_.strict_ends = false;
      return scan;
    }
    if (cursor_.strict_ends) {
      cursor_.strict_ends = false;
      return scan;
    }
    cursor_.strict_ends = true;
  }
}

void EventStream::ReadAll() {
  ReadFile();
  NoteWhatFollows();
  // A packed file that breaks off ends within an event, too: that is one fault.
  const bool counted = faults_.contains(source_.fault());
  if (!source_.fault().empty() && !counted) Count(source_.fault());
}

void EventStream::ReadFile() {
  const Scan first = Attempt([this] {
    if (std::string_view(cursor_.at, cursor_.end).starts_with("\xef\xbb\xbf")) cursor_.at += 3;
    SkipSpace(cursor_);
    return cursor_.empty() ? Scan::kMore : Scan::kOk;
  });
  if (first != Scan::kOk) return Count("empty");
  if (*cursor_.at == '[') {
    ++cursor_.at;
    whole_ = ReadEvents();
    return;
  }
  if (*cursor_.at != '{') return Count("not_json");
  ++cursor_.at;
  for (;;) {
    std::string_view key;
    bool events_follow = false;
    if (!ReadOneMember(key, events_follow)) return;
    if (events_follow && !ReadEvents()) return;
  }
}

// A second document, or whatever stands behind the end of the first, is not read.
void EventStream::NoteWhatFollows() {
  if (!whole_) return;
  const Scan more = Attempt([this] {
    SkipSeparators(cursor_);
    return cursor_.empty() ? Scan::kMore : Scan::kOk;
  });
  if (more == Scan::kOk) Count("more_behind_the_end");
}

// False at the end of the file.
bool EventStream::ReadOneMember(std::string_view& key, bool& events_follow) {
  std::string_view raw;
  bool closed = false;
  const Scan scan = Attempt([&]() -> Scan {
    SkipSeparators(cursor_);
    if (cursor_.empty()) return Scan::kMore;
    closed = *cursor_.at == '}';
    if (closed) return ++cursor_.at, Scan::kOk;
    if (const Scan read = ReadText(cursor_, key); read != Scan::kOk) return read;
    if (const Scan read = Expect(cursor_, ':'); read != Scan::kOk) return read;
    SkipSpace(cursor_);
    if (cursor_.empty()) return Scan::kMore;
    events_follow = key == "traceEvents" && *cursor_.at == '[';
    return events_follow ? (++cursor_.at, Scan::kOk) : SkipValue(cursor_, raw);
  });
  if (scan == Scan::kOk) {
    if (!closed && !events_follow) sink_.member(key, raw);
    whole_ = closed;
    return !closed;
  }
  if (scan == Scan::kMore && ended_) return Count("truncated"), false;
  Count("broken_member");
  events_follow = FindEvents();
  return events_follow;
}

// To the end of the array; false when the file ends before.
bool EventStream::ReadEvents() {
  closed_ = false;
  while (ReadOneEvent()) continue;
  return closed_;
}

bool EventStream::ReadOneEvent() {
  TraceEvent event;
  const Scan scan = Attempt([&]() -> Scan {
    SkipSeparators(cursor_);
    if (cursor_.empty()) return Scan::kMore;
    closed_ = *cursor_.at == ']';
    return closed_ ? (++cursor_.at, Scan::kOk) : ReadEvent(cursor_, event);
  });
  if (scan == Scan::kOk) {
    if (!closed_) sink_.event(event);
    return !closed_;
  }
  if (scan == Scan::kMore && ended_) {
    Count("truncated");
    cursor_.at = cursor_.end;
    return false;
  }
  Count(scan == Scan::kMore ? "too_large" : "broken_event");
  SkipSeparators(cursor_);
  if (!cursor_.empty()) ++cursor_.at;
  return FindEvent();
}

// Moves to the next place where an event seems to begin.
bool EventStream::FindEvent() {
  for (;;) {
    const auto left = static_cast<std::size_t>(cursor_.end - cursor_.at);
    const auto* brace = static_cast<const char*>(std::memchr(cursor_.at, '{', left));
    cursor_.at = brace ? brace : cursor_.end;
    const bool whole = brace && static_cast<std::size_t>(cursor_.end - brace) >= kLookAhead;
    if (!whole && !ended_ && Refill()) continue;
    if (cursor_.empty()) return false;
    if (BeginsEvent(buffer_.get(), cursor_.at, cursor_.end)) return true;
    ++cursor_.at;
  }
}

// Moves to behind the bracket of the array of events.
bool EventStream::FindEvents() {
  for (;;) {
    const std::string_view rest(cursor_.at, cursor_.end);
    const std::size_t found = rest.find(kEventsKey);
    if (found != std::string_view::npos) {
      cursor_.at += found + kEventsKey.size();
      const bool opened = Attempt([this] {
                            const Scan colon = Expect(cursor_, ':');
                            return colon == Scan::kOk ? Expect(cursor_, '[') : colon;
                          }) == Scan::kOk;
      if (opened) return true;
      continue;
    }
    if (rest.size() > kEventsKey.size()) cursor_.at = cursor_.end - kEventsKey.size();
    if (!Refill()) return false;
  }
}

}  // namespace stepscope

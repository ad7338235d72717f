#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "core/trace/byte_source.h"
#include "core/trace/trace.h"
#include "core/trace/trace_event.h"

namespace stepscope {

// Receives what a trace file holds, in the order of the file. The views are valid during the call.
struct EventSink {
  std::function<void(const TraceEvent&)> event;
  std::function<void(std::string_view key, std::string_view raw)>
      member;  // metadata beside the events
};

// Reads a Chrome trace as it comes: an object with "traceEvents", or a bare array of events. One
// value at a time is in memory, 16 MiB at most. Never gives up on a file: what cannot be read is
// counted by reason in `faults`, and reading goes on at the next event.
class EventStream {
 public:
  EventStream(ByteSource& source, EventSink sink, TraceFaults& faults);

  void ReadAll();
  std::uint64_t bytes() const { return bytes_; }  // of JSON that were read

 private:
  bool Refill();
  void ReadFile();
  void NoteWhatFollows();
  bool ReadEvents();
  bool ReadOneEvent();
  bool ReadOneMember(std::string_view& key, bool& events_follow);
  bool FindEvent();
  bool FindEvents();
  template <typename Read>
  Scan Attempt(const Read& read);
  void Count(std::string_view reason);

  ByteSource& source_;
  const EventSink sink_;
  TraceFaults& faults_;
  std::size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  JsonCursor cursor_;
  bool ended_ = false;   // the source has nothing more
  bool closed_ = false;  // the array of events is over
  bool whole_ = false;   // the document is
  std::uint64_t bytes_ = 0;
};

}  // namespace stepscope

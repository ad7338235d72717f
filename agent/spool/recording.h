#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/wire/frame.h"

namespace stepscope {

// A recording is a push of any length: frames as on the wire, each with its length in front. It may
// hold several sessions, each in order.

// The last number that a frame stands for: its own, or the end of a lost range.
std::uint64_t LastNumber(const Frame& frame);

// Writes a recording. For one thread.
class RecordingWriter {
 public:
  // Conflict when the file exists already; Invalid when it cannot be created.
  static Result<std::unique_ptr<RecordingWriter>> Create(const std::string& path);

  // Writes all of the push or nothing. Unavailable when there is no room, or the disk fails.
  Status Append(std::string_view push);

  const std::string& path() const { return path_; }

 private:
  RecordingWriter(Descriptor file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  Descriptor file_;
  std::string path_;
  std::uint64_t size_ = 0;
};

// The place of a frame.
struct RecordedFrame {
  std::uint64_t offset = 0;
  std::uint32_t size = 0;
  std::uint32_t file = 0;
  std::uint64_t first = 0, last = 0;  // numbers; several only for a lost range
  std::int64_t created_us = 0;
};

// The frames of one session, by number. Missing numbers are gone.
struct RecordedSession {
  FrameHead head;  // head of the first frame
  std::vector<RecordedFrame> frames;
};

// The index of one or more recordings; frames themselves are not held in memory. For one thread.
class Recording {
 public:
  // Reads everything once, so that all damage is known before anything is sent. Invalid for files
  // that are no recordings or too large.
  static Result<Recording> Open(const std::vector<std::string>& paths);

  const std::vector<RecordedSession>& sessions() const { return sessions_; }
  // The damage of the files, as sentences; empty when there is none.
  const std::vector<std::string>& damage() const { return damage_; }

  // Invalid when the file has changed since.
  Result<Frame> Read(const RecordedFrame& frame) const;

 private:
  Status Scan(const std::string& path, std::uint32_t file);
  void Take(const Frame& frame, RecordedFrame place);
  void CheckHoles();
  void Note(std::string damage);

  std::vector<Descriptor> files_;
  std::vector<RecordedSession> sessions_;
  std::vector<std::string> damage_;
  std::size_t frames_ = 0;
};

}  // namespace stepscope

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/wire/frame.h"

namespace stepscope {

// What goes into one frame, before it has a number.
struct FrameContent {
  FrameKind kind = FrameKind::kLifecycle;
  std::string payload{};
  const Schema* schema = nullptr;  // of the table in the payload
  std::uint64_t schema_hash = 0;
  std::int64_t from_us = 0, to_us = 0;  // of the samples in it
  std::uint64_t samples = 0;
};

// Tables that become few large frames instead of many small ones: half as many bytes. What Close
// gives for the first tables is, frame by frame, the beginning of what it gives for all: so frames
// made again after a crash have the numbers that they had.
class FrameBatch {
 public:
  void Add(FrameContent content);

  // The frames, in the order of their first tables; empty afterwards. Their schemas are borrowed
  // from `schemas`.
  std::vector<FrameContent> Close(std::map<std::uint64_t, Schema>& schemas);

  bool empty() const { return groups_.empty(); }
  std::size_t frames() const { return groups_.size(); }
  std::size_t bytes() const { return bytes_; }
  std::int64_t to_us() const { return to_us_; }  // of the newest sample
  // Of a schema that Add has not seen since the last Close, true.
  bool IsNew(std::uint64_t schema_hash) const { return !schemas_.contains(schema_hash); }

 private:
  // Of one kind and schema.
  struct Group {
    std::vector<FrameContent> contents;
    std::size_t rows = 0, bytes = 0;
  };

  std::vector<Group> groups_;
  std::map<std::uint64_t, Schema> schemas_;
  std::size_t bytes_ = 0;
  std::int64_t to_us_ = 0;
};

}  // namespace stepscope

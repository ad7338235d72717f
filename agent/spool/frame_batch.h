#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/wire/frame.h"

namespace stepscope {

// The content of one frame, before it has a number.
struct FrameContent {
  FrameKind kind = FrameKind::kLifecycle;
  std::string payload{};
  const Schema* schema = nullptr;  // schema of the table in the payload
  std::uint64_t schema_hash = 0;
  std::int64_t from_us = 0, to_us = 0;  // times of its samples
  std::uint64_t samples = 0;
};

// Joins tables to few large frames instead of many small ones, which halves their bytes. The frames
// that Close makes of the first tables are the first frames that it makes of all: so frames made
// again after a crash keep their numbers.
class FrameBatch {
 public:
  void Add(FrameContent content);

  // Makes the frames, in the order of their first tables, and becomes empty. Their schemas are
  // borrowed from `schemas`.
  std::vector<FrameContent> Close(std::map<std::uint64_t, Schema>& schemas);

  bool empty() const { return groups_.empty(); }
  std::size_t frames() const { return groups_.size(); }
  std::size_t bytes() const { return bytes_; }
  std::int64_t to_us() const { return to_us_; }  // time of the newest sample
  // Whether Add has not seen this schema since the last Close.
  bool IsNew(std::uint64_t schema_hash) const { return !schemas_.contains(schema_hash); }

 private:
  // Tables of one kind and schema.
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

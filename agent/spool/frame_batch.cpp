#include "agent/spool/frame_batch.h"

#include <algorithm>
#include <utility>

#include "core/wire/table_codec.h"

namespace stepscope {
namespace {

// Bound of a frame's tables before they are joined, far below the largest frame.
constexpr std::size_t kMostBytes = 512 * 1024;

void AppendColumn(Column& to, const Column& from, std::size_t rows_before) {
  to.scale = from.scale;
  if (!from.present.empty() || !to.present.empty()) {
    to.present.resize(rows_before, 1);
    to.present.insert(to.present.end(), from.present.begin(), from.present.end());
    to.present.resize(rows_before + from.values.size(), 1);
  }
  to.values.insert(to.values.end(), from.values.begin(), from.values.end());
}

bool Append(Table& to, const std::string& payload) {
  const auto table = DecodeTable(payload);
  if (!table || (to.rows > 0 && table->columns.size() != to.columns.size())) return false;
  for (std::size_t i = 0; i < table->columns.size(); ++i) {
    // Values at another scale cannot be appended.
    if (to.rows > 0 && table->columns[i].scale != to.columns[i].scale) return false;
  }
  to.columns.resize(table->columns.size());
  for (std::size_t i = 0; i < table->columns.size(); ++i) {
    AppendColumn(to.columns[i], table->columns[i], to.rows);
  }
  to.rows += table->rows;
  return true;
}

// Ticks of a frame go forward in time, also where the clock was set back.
bool Follows(const FrameContent& content, const FrameContent& before) {
  return content.kind != FrameKind::kTicks || content.from_us > before.to_us;
}

// Joins all tables to one; tables that do not fit together stay as they are.
std::vector<FrameContent> Join(std::vector<FrameContent> contents) {
  if (contents.size() == 1) return contents;
  Table table;
  FrameContent joined = contents.front();
  joined.samples = 0;
  for (const FrameContent& content : contents) {
    if (!Append(table, content.payload)) return contents;
    joined.samples += content.samples;
    joined.from_us = std::min(joined.from_us, content.from_us);
    joined.to_us = std::max(joined.to_us, content.to_us);
  }
  joined.payload = EncodeTable(table);
  return {std::move(joined)};
}

}  // namespace

void FrameBatch::Add(FrameContent content) {
  const auto reader = TableReader::Open(content.payload);
  const std::size_t rows = reader ? reader->rows() : kMaxRowsPerFrame;
  const std::size_t bytes = content.payload.size();
  bytes_ += bytes;
  to_us_ = std::max(to_us_, content.to_us);
  if (content.schema != nullptr) schemas_.emplace(content.schema_hash, *content.schema);
  content.schema = nullptr;
  const auto same = [&](const Group& each) {
    const FrameContent& first = each.contents.front();
    return first.kind == content.kind && first.schema_hash == content.schema_hash;
  };
  const auto group = std::ranges::find_if(groups_.rbegin(), groups_.rend(), same);
  if (group != groups_.rend() && group->rows + rows <= kMaxRowsPerFrame &&
      group->bytes + bytes <= kMostBytes && Follows(content, group->contents.back())) {
    group->rows += rows;
    group->bytes += bytes;
    group->contents.push_back(std::move(content));
    return;
  }
  groups_.push_back({{std::move(content)}, rows, bytes});
}

std::vector<FrameContent> FrameBatch::Close(std::map<std::uint64_t, Schema>& schemas) {
  schemas = std::exchange(schemas_, {});
  std::vector<FrameContent> frames;
  for (Group& group : groups_) {
    for (FrameContent& frame : Join(std::move(group.contents))) {
      const auto schema = schemas.find(frame.schema_hash);
      frame.schema = schema == schemas.end() ? nullptr : &schema->second;
      frames.push_back(std::move(frame));
    }
  }
  groups_.clear();
  bytes_ = 0;
  to_us_ = 0;
  return frames;
}

}  // namespace stepscope

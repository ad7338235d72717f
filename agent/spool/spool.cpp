#include "agent/spool/spool.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace stepscope {
namespace {

void Lose(SpoolRecord& record, std::string_view why) {
  record.lost = why;
  record.bytes = {};
  // The segment stays until the loss is reported: the next agent may be able to read it.
  record.place = {.segment = record.place.segment};
}

// Extends a lost range by the next one.
void Merge(SpoolRecord& range, const SpoolRecord& next) {
  range.last = next.last;
  range.samples += next.samples;
  if (range.from_us == 0) range.from_us = next.from_us;
  range.to_us = std::max(range.to_us, next.to_us);
  range.place = {};
}

}  // namespace

SpoolLimits SpoolLimits::SharedBy(std::size_t streams) const {
  constexpr std::size_t kLeast = 16 * 1024;
  SpoolLimits part = *this;
  for (std::size_t* each : {&part.bytes, &part.kept_bytes, &part.gathered_bytes}) {
    *each = std::max(*each / streams, std::min(*each, kLeast));
  }
  return part;
}

Spool::Spool(SpoolLimits limits, std::uint64_t acknowledged, std::vector<SpoolRecord> found)
    : limits_(limits), next_(acknowledged + 1), acknowledged_(acknowledged) {
  for (SpoolRecord& record : found) Append(std::move(record));
}

void Spool::Append(SpoolRecord record) {
  assert(record.first == next_);
  next_ = record.last + 1;
  waiting_bytes_ += record.bytes.size();
  waiting_.push_back(std::move(record));
  while (waiting_bytes_ > limits_.bytes) DropOldest();
}

void Spool::DropOldest() {
  const auto oldest =
      std::ranges::find_if(waiting_, [](const SpoolRecord& each) { return !each.bytes.empty(); });
  assert(oldest != waiting_.end());
  waiting_bytes_ -= oldest->bytes.size();
  ++frames_lost_;
  stepscope::Lose(*oldest, "dropped");
  if (oldest == waiting_.begin()) return;
  const auto before = std::prev(oldest);
  if (before->lost != "dropped") return;
  Merge(*before, *oldest);
  waiting_.erase(oldest);
}

// Joins neighbouring lost ranges.
void Spool::JoinLost() {
  std::deque<SpoolRecord> joined;
  for (SpoolRecord& record : waiting_) {
    const bool both =
        !joined.empty() && record.lost == "dropped" && joined.back().lost == "dropped";
    if (both) {
      Merge(joined.back(), record);
    } else {
      joined.push_back(std::move(record));
    }
  }
  waiting_ = std::move(joined);
}

std::vector<const SpoolRecord*> Spool::Read(std::size_t records, std::size_t bytes) const {
  std::vector<const SpoolRecord*> read;
  std::size_t size = 0;
  for (const SpoolRecord& record : waiting_) {
    size += record.Size();
    if (read.size() >= records || (!read.empty() && size > bytes)) break;
    read.push_back(&record);
  }
  return read;
}

void Spool::Acknowledge(std::uint64_t number, SteadyTime now) {
  acknowledged_ = std::max(acknowledged_, std::min(number, next_ - 1));
  while (!waiting_.empty() && waiting_.front().last <= number) {
    SpoolRecord& record = waiting_.front();
    waiting_bytes_ -= record.bytes.size();
    kept_bytes_ += record.bytes.size();
    kept_disk_bytes_ += record.place.bytes;
    kept_.push_back({std::move(record), now});
    waiting_.pop_front();
  }
  // The service had stored the first frames of a range before we dropped them.
  if (!waiting_.empty() && waiting_.front().first <= number) waiting_.front().first = number + 1;
  ForgetOld(now);
}

void Spool::ForgetOld(SteadyTime now) {
  while (!kept_.empty() &&
         (kept_bytes_ > limits_.kept_bytes || kept_disk_bytes_ > limits_.kept_disk_bytes ||
          now - kept_.front().at > limits_.kept_for)) {
    ForgetFirst();
  }
}

void Spool::ForgetFirst() {
  const SpoolRecord& record = kept_.front().record;
  kept_bytes_ -= record.bytes.size();
  kept_disk_bytes_ -= record.place.bytes;
  kept_.pop_front();
}

bool Spool::Rewind(std::uint64_t number) {
  if (number == 0 || number > next_) return false;
  while (!kept_.empty() && kept_.back().record.last >= number) {
    SpoolRecord& record = kept_.back().record;
    kept_bytes_ -= record.bytes.size();
    kept_disk_bytes_ -= record.place.bytes;
    waiting_bytes_ += record.bytes.size();
    waiting_.push_front(std::move(record));
    kept_.pop_back();
  }
  const std::uint64_t oldest = waiting_.empty() ? next_ : waiting_.front().first;
  if (number < oldest) {
    frames_lost_ += oldest - number;
    waiting_.push_front({.first = number, .last = oldest - 1, .lost = "dropped"});
  }
  // The service has all numbers before `number`.
  while (!waiting_.empty() && waiting_.front().last < number) {
    waiting_bytes_ -= waiting_.front().bytes.size();
    waiting_.pop_front();
  }
  if (!waiting_.empty() && waiting_.front().first < number) waiting_.front().first = number;
  acknowledged_ = number - 1;
  return true;
}

std::deque<SpoolRecord>::iterator Spool::Find(std::uint64_t number) {
  return std::ranges::find(waiting_, number, &SpoolRecord::first);
}

const SpoolRecord* Spool::Waiting(std::uint64_t number) const {
  const auto record = std::ranges::find(waiting_, number, &SpoolRecord::first);
  return record == waiting_.end() || !record->lost.empty() ? nullptr : &*record;
}

bool Spool::Refuse(std::uint64_t number) {
  const auto record = Find(number);
  if (record == waiting_.end() || !record->lost.empty()) return false;
  Lose(number, "refused");
  return true;
}

void Spool::Lose(std::uint64_t number, std::string_view why) {
  const auto record = Find(number);
  if (record == waiting_.end() || !record->lost.empty()) return;
  waiting_bytes_ -= record->bytes.size();
  ++frames_lost_;
  stepscope::Lose(*record, why);
}

void Spool::Replace(std::uint64_t number, std::string bytes) {
  const auto record = Find(number);
  if (record == waiting_.end() || !record->lost.empty()) return;
  waiting_bytes_ += bytes.size() - record->bytes.size();
  record->bytes = std::move(bytes);
  record->place = {};
}

std::vector<const SpoolRecord*> Spool::Unstored() const {
  std::vector<const SpoolRecord*> unstored;
  for (const SpoolRecord& record : waiting_) {
    if (record.place.segment == 0) unstored.push_back(&record);
  }
  return unstored;
}

void Spool::Stored(const SpoolRecord& copy, const SpoolPlace& place) {
  const auto record = Find(copy.first);
  // The record may have changed since it was copied.
  if (record == waiting_.end() || record->last != copy.last || record->lost != copy.lost) return;
  waiting_bytes_ -= record->bytes.size();
  record->bytes = {};
  record->place = record->lost.empty() ? place : SpoolPlace{.segment = place.segment};
}

void Spool::LoseBefore(std::uint32_t segment) {
  const auto gone = [&](const SpoolRecord& record) {
    return record.place.segment != 0 && record.place.segment < segment;
  };
  while (!kept_.empty() && gone(kept_.front().record)) ForgetFirst();
  bool any = false;
  for (SpoolRecord& record : waiting_) {
    if (!gone(record)) continue;
    any = true;
    frames_lost_ += record.lost.empty();
    if (record.lost.empty()) stepscope::Lose(record, "dropped");
    record.place = {};
  }
  if (any) JoinLost();
}

std::uint32_t Spool::FirstSegment() const {
  std::uint32_t first = UINT32_MAX;
  const auto take = [&](const SpoolRecord& record) {
    if (record.place.segment != 0) first = std::min(first, record.place.segment);
  };
  for (const Kept& kept : kept_) take(kept.record);
  std::ranges::for_each(waiting_, take);
  return first == UINT32_MAX ? 0 : first;
}

void Spool::Clear() {
  waiting_.clear();
  kept_.clear();
  waiting_bytes_ = kept_bytes_ = kept_disk_bytes_ = 0;
}

SpoolFigures Spool::figures() const {
  SpoolFigures figures;
  figures.frames_lost = frames_lost_;
  for (const SpoolRecord& record : waiting_) {
    figures.frames_waiting += record.lost.empty();
    if (record.to_us == 0) continue;
    if (figures.from_us == 0) figures.from_us = record.from_us;
    figures.to_us = std::max(figures.to_us, record.to_us);
  }
  return figures;
}

}  // namespace stepscope

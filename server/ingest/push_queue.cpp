#include "server/ingest/push_queue.h"

#include <algorithm>
#include <utility>

namespace stepscope {

bool PushQueue::HasRoom(const Content& content, const std::string& sender, const std::string& job,
                        std::size_t bytes) const {
  const PushLanes& waiting = content.waiting;
  if (content.closed || waiting.pushes() >= options_.queue_bound) return false;
  const std::size_t taken = waiting.bytes() + content.written;
  if (taken + bytes > options_.queue_bytes) return false;
  const std::size_t own_pushes = waiting.PushesOf(sender);
  const std::size_t places = options_.queue_bound - (waiting.pushes() - own_pushes);
  if (!sender.empty() && own_pushes > 0 && own_pushes >= places / 4 * 3) return false;
  const auto fits = [&](std::size_t own, std::size_t quarters) {
    const std::size_t left = options_.queue_bytes - (taken - own);
    return own == 0 || own + bytes <= left / 4 * quarters;
  };
  if (!fits(waiting.BytesOf(sender), 3) || !fits(waiting.BytesOf(sender, job), 2)) return false;
  const auto first = waiting.Oldest(sender, job);
  return !first || clock_.Steady() - *first <= options_.queue_age;
}

// The jobs that nobody writes, on machines that have writers left. Jobs whose machine is not known
// are, together, like those of a machine.
PushLanes::MayGo PushQueue::MayGo(const Content& content) const {
  std::map<std::optional<std::int64_t>, std::size_t> taken;
  for (const auto& [job, since] : content.jobs_taken) ++taken[machines_.Of(job)];
  return [this, &content, taken = std::move(taken)](const std::string& job) {
    if (content.jobs_taken.contains(job)) return false;
    if (taken.empty()) return true;
    const auto found = taken.find(machines_.Of(job));
    return found == taken.end() || found->second < options_.writers / 2;
  };
}

bool PushQueue::Hangs(const std::string& job) const {
  if (one_writer()) return false;
  const auto machine = machines_.Of(job);
  return content_.Read([&](const Content& content) {
    return std::ranges::any_of(content.jobs_taken, [&](const auto& taken) {
      const bool same = taken.first == job || (machine && machines_.Of(taken.first) == machine);
      return same && clock_.Steady() - taken.second > kHangsAfter &&
             !machines_.HasAnsweredSince(taken.first, taken.second);
    });
  });
}

void PushQueue::Signal(const Content& content) {
  const PushLanes& waiting = content.waiting;
  const bool some = one_writer() ? !waiting.empty() : waiting.HasJob(MayGo(content));
  signal_.Set(some, waiting.frames() >= options_.group_frames);
}

bool PushQueue::HasRoomFor(const std::string& sender, const std::string& job,
                           std::size_t bytes) const {
  return content_.Read(
      [&](const Content& content) { return HasRoom(content, sender, job, bytes); });
}

bool PushQueue::Add(std::unique_ptr<WaitingPush>& push) {
  return content_.Change([&](Content& content) {
    if (!HasRoom(content, push->push.sender, push->push.job, push->bytes)) return false;
    content.waiting.Add(std::move(push));
    Signal(content);
    return true;
  });
}

void PushQueue::Close() {
  content_.Change([](Content& content) { content.closed = true; });
}

PushBatch PushQueue::TakeLate() {
  return content_.Change([this](Content& content) {
    PushBatch late = content.waiting.TakeBefore(clock_.Steady() - options_.answer_within);
    Signal(content);
    return late;
  });
}

PushBatch PushQueue::TakeMixed(PushLanes& waiting) const {
  PushBatch batch;
  std::size_t frames = 0;
  while (const WaitingPush* next = waiting.Next()) {
    const std::size_t more = next->push.frames.size();
    if (!batch.empty() && frames + more > options_.group_frames) break;
    frames += more;
    batch.push_back(waiting.TakeNext());
  }
  return batch;
}

PushBatch PushQueue::TakeBatch() {
  return content_.Change([this](Content& content) {
    PushBatch batch = one_writer() ? TakeMixed(content.waiting)
                                   : content.waiting.TakeJob(MayGo(content), options_.group_frames);
    for (const auto& push : batch) content.written += push->bytes;
    if (!one_writer() && !batch.empty())
      content.jobs_taken.emplace(batch.front()->push.job, clock_.Steady());
    Signal(content);
    return batch;
  });
}

void PushQueue::Release(const Taken& taken) {
  content_.Change([&](Content& content) {
    content.written -= taken.bytes;
    content.jobs_taken.erase(taken.job);
    Signal(content);
  });
}

void PushQueue::FillFigures(IngestFigures& figures) const {
  content_.Read([&](const Content& content) {
    const SteadyTime at = clock_.Steady();  // not before the waiting pushes came
    figures.queue_length = content.waiting.pushes();
    figures.queue_bytes = content.waiting.bytes() + content.written;
    const auto may = one_writer() ? PushLanes::MayGo() : MayGo(content);
    if (const auto oldest = content.waiting.Oldest(may)) figures.queue_age = at - *oldest;
    if (const auto least = content.waiting.LeastOldest(may)) figures.shared_age = at - *least;
  });
}

}  // namespace stepscope

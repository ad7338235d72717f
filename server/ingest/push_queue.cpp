#include "server/ingest/push_queue.h"

#include <utility>

namespace stepscope {

std::unique_ptr<WaitingPush> PushQueue::TakeFirst(Content& content) {
  std::unique_ptr<WaitingPush> first = std::move(content.waiting.front());
  content.waiting.pop_front();
  content.frames -= first->push.frames.size();
  return first;
}

bool PushQueue::HasRoom(const Content& content, std::size_t bytes) const {
  if (content.closed || content.waiting.size() >= options_.queue_bound) return false;
  if (content.bytes + bytes > options_.queue_bytes) return false;
  if (content.waiting.empty()) return true;
  return clock_.Steady() - content.waiting.front()->since <= options_.queue_age;
}

void PushQueue::Signal(const Content& content) {
  signal_.Set(!content.waiting.empty(), content.frames >= options_.group_frames);
}

bool PushQueue::Add(std::unique_ptr<WaitingPush>& push) {
  return content_.Change([&](Content& content) {
    if (!HasRoom(content, push->bytes)) return false;
    content.frames += push->push.frames.size();
    content.bytes += push->bytes;
    content.waiting.push_back(std::move(push));
    Signal(content);
    return true;
  });
}

void PushQueue::Close() {
  content_.Change([](Content& content) { content.closed = true; });
}

PushBatch PushQueue::TakeLate() {
  return content_.Change([this](Content& content) {
    PushBatch late;
    const SteadyTime since = clock_.Steady() - options_.answer_within;
    while (!content.waiting.empty() && content.waiting.front()->since < since) {
      content.bytes -= content.waiting.front()->bytes;
      late.push_back(TakeFirst(content));
    }
    Signal(content);
    return late;
  });
}

PushBatch PushQueue::TakeBatch() {
  return content_.Change([this](Content& content) {
    PushBatch batch;
    std::size_t frames = 0;
    while (!content.waiting.empty()) {
      const std::size_t more = content.waiting.front()->push.frames.size();
      if (!batch.empty() && frames + more > options_.group_frames) break;
      frames += more;
      batch.push_back(TakeFirst(content));
    }
    Signal(content);
    return batch;
  });
}

void PushQueue::Release(std::size_t bytes) {
  content_.Change([&](Content& content) { content.bytes -= bytes; });
}

void PushQueue::FillFigures(IngestFigures& figures) const {
  content_.Read([&](const Content& content) {
    const SteadyTime at = clock_.Steady();  // not before the waiting pushes came
    figures.queue_length = content.waiting.size();
    figures.queue_bytes = content.bytes;
    if (!content.waiting.empty()) figures.queue_age = at - content.waiting.front()->since;
  });
}

}  // namespace stepscope

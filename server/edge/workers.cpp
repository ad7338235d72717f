#include "server/edge/workers.h"

#include <signal.h>

#include <algorithm>
#include <exception>

#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr std::size_t kStackBytes = 8 * 1024 * 1024;

std::size_t MostOf(std::size_t all) {
  return std::max<std::size_t>(1, all * 3 / 4);
}

void LogFault(const std::exception& fault, const std::string& request_id) {
  LogError("a handler failed: {}, request {}", fault.what(), request_id);
}

Reply Failed() {
  return {.status = 500, .content_type = "", .body = "", .headers = {}};
}

}  // namespace

Workers::Workers(std::size_t threads, std::size_t most_queued, const EdgeHandlers& handlers,
                 const std::atomic<bool>& stopping, std::function<void(Done)> done)
    : handlers_(handlers), stopping_(stopping), done_(std::move(done)), workers_(threads) {
  QueueOf(Lane::kAll) = {.waiting = {}, .most_waiting = most_queued, .most_running = threads};
  QueueOf(Lane::kMost) = {
      .waiting = {}, .most_waiting = MostOf(most_queued), .most_running = MostOf(threads)};
  sigset_t all, before;  // signals go to the main thread only
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  for (Worker& worker : workers_) {
    worker.home = this;
    pthread_t thread;
    if (pthread_create(&thread, &attributes, &Workers::Start, &worker) != 0) break;
    pthread_setname_np(thread, "http");
    threads_.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Workers::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  for (Worker& worker : workers_) worker.called.notify_one();
  for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  threads_.clear();
}

void* Workers::Start(void* started) {
  Worker& worker = *static_cast<Worker*>(started);
  worker.home->Run(worker);
  return nullptr;
}

// The idle one that worked last, who is to be woken; null when all are at work.
Workers::Worker* Workers::TakeIdle() {
  if (idle_.empty()) return nullptr;
  Worker* const worker = idle_.back();
  idle_.pop_back();
  worker->idle = false;
  return worker;
}

bool Workers::Add(Task& task) {
  std::unique_lock lock(mutex_);
  Queue& queue = QueueOf(task.lane);
  const bool full =
      waiting() >= QueueOf(Lane::kAll).most_waiting || queue.waiting.size() >= queue.most_waiting;
  if (stopped_ || full) return false;
  queue.waiting.push_back({next_place_++, std::move(task)});
  Worker* const worker = TakeIdle();
  lock.unlock();  // before the other wants it
  if (worker) worker->called.notify_one();
  return true;
}

std::size_t Workers::queued() const {
  std::lock_guard lock(mutex_);
  return waiting();
}

std::size_t Workers::waiting() const {
  std::size_t sum = 0;
  for (const Queue& queue : queues_) sum += queue.waiting.size();
  return sum;
}

// The one whose first task came first, of those that may run another; null when none may.
Workers::Queue* Workers::First() {
  Queue* first = nullptr;
  for (Queue& queue : queues_) {
    if (!queue.CanRun()) continue;
    if (!first || queue.waiting.front().place < first->waiting.front().place) first = &queue;
  }
  return first;
}

bool Workers::Next(Worker& worker, Task& task) {
  std::unique_lock lock(mutex_);
  Queue* queue = nullptr;
  while (!stopped_ && (queue = First()) == nullptr) {
    worker.idle = true;
    idle_.push_back(&worker);
    worker.called.wait(lock, [&] { return stopped_ || !worker.idle; });
  }
  if (stopped_) return false;
  task = std::move(queue->waiting.front().task);
  queue->waiting.pop_front();
  queue->running++;
  return true;
}

// One that was held back by its lane may go on now, even if this worker takes another.
void Workers::Leave(Lane lane) {
  std::unique_lock lock(mutex_);
  Queue& queue = QueueOf(lane);
  const bool held_back = queue.running-- == queue.most_running && !queue.waiting.empty();
  Worker* const worker = held_back ? TakeIdle() : nullptr;
  lock.unlock();
  if (worker) worker->called.notify_one();
}

void Workers::Run(Worker& worker) {
  AnswerWriter writer;
  while (true) {
    Task task;
    if (!Next(worker, task)) return;
    const Lane lane = task.lane;
    done_(task.ask ? Ask(std::move(task)) : Answer(std::move(task), writer));
    Leave(lane);
  }
}

Done Workers::Ask(Task task) const {
  HeadVerdict verdict{.kind = HeadVerdict::kRefuse, .refusal = Failed()};
  try {
    verdict = handlers_.ask(task.request);
  } catch (const std::exception& fault) {
    LogFault(fault, task.request.request_id);
  }
  return {.connection = task.connection,
          .ticket = task.ticket,
          .ask = true,
          .request = std::move(task.request),
          .verdict = std::move(verdict),
          .answer = {}};
}

Done Workers::Answer(Task task, AnswerWriter& writer) const {
  Reply reply = Failed();
  try {
    reply = handlers_.answer(task.request);
  } catch (const std::exception& fault) {
    LogFault(fault, task.request.request_id);
  }
  task.form.close = task.form.close || stopping_;
  std::string answer = writer.Write(std::move(reply), task.form);
  return {.connection = task.connection,
          .ticket = task.ticket,
          .request = {},
          .verdict = {},
          .answer = std::move(answer),
          .close = task.form.close};
}

}  // namespace stepscope

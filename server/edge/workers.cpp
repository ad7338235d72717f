#include "server/edge/workers.h"

#include <signal.h>

#include <algorithm>
#include <exception>
#include <utility>

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
                 std::shared_ptr<const std::atomic<bool>> stopping, std::function<void(Done)> done,
                 const EdgeOptions& options)
    : handlers_(handlers),
      stopping_(std::move(stopping)),
      done_(std::move(done)),
      body_folder_(options.body_folder),
      body_files_(std::make_shared<BodyShares>(options.most_body_file_bytes)),
      workers_(threads) {
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

// The worker to wake, which is the idle one that worked last. Null when enough were woken for the
// tasks that can run, or all are at work.
Workers::Worker* Workers::TakeWanted() {
  std::size_t wanted = 0;
  for (const Queue& queue : queues_) wanted += queue.CanRun();
  if (idle_.empty() || wanted <= called_) return nullptr;
  Worker* const worker = idle_.back();
  idle_.pop_back();
  worker->idle = false;
  ++called_;
  return worker;
}

bool Workers::Add(Task& task) {
  std::unique_lock lock(mutex_);
  Queue& queue = QueueOf(task.lane);
  const bool full =
      waiting() >= QueueOf(Lane::kAll).most_waiting || queue.waiting.size() >= queue.most_waiting;
  if (stopped_ || full) return false;
  queue.waiting.push_back({next_place_++, std::move(task)});
  Worker* const worker = TakeWanted();
  lock.unlock();  // before the woken worker wants it
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

// The queue whose first task came first, among those that may run another; null when none may.
Workers::Queue* Workers::First() {
  Queue* first = nullptr;
  for (Queue& queue : queues_) {
    if (queue.CanRun() == 0) continue;
    if (!first || queue.waiting.front().place < first->waiting.front().place) first = &queue;
  }
  return first;
}

bool Workers::Next(Worker& worker, std::optional<Lane> before, Task& task) {
  std::unique_lock lock(mutex_);
  if (before) QueueOf(*before).running--;
  Queue* queue = nullptr;
  while (!stopped_ && (queue = First()) == nullptr) {
    worker.idle = true;
    idle_.push_back(&worker);
    worker.called.wait(lock, [&] { return stopped_ || !worker.idle; });
    if (!worker.idle) --called_;
  }
  if (stopped_) return false;
  task = std::move(queue->waiting.front().task);
  queue->waiting.pop_front();
  queue->running++;
  // A task that its lane held back may run although this worker has taken another.
  Worker* const other = TakeWanted();
  lock.unlock();
  if (other) other->called.notify_one();
  return true;
}

void Workers::Run(Worker& worker) {
  std::optional<Lane> before;
  while (true) {
    Task task;
    if (!Next(worker, before, task)) return;
    before = task.lane;
    if (!task.part.empty()) {
      WritePart(std::move(task));
    } else if (task.ask) {
      Ask(std::move(task));
    } else {
      Answer(task, MayWait::kYes);
    }
  }
}

void Workers::Ask(Task task) const {
  HeadVerdict verdict{.kind = HeadVerdict::kRefuse, .refusal = Failed()};
  try {
    verdict = handlers_.ask(task.request);
  } catch (const std::exception& fault) {
    LogFault(fault, task.request.request_id);
  }
  done_({.connection = task.connection,
         .ticket = task.ticket,
         .ask = true,
         .request = std::move(task.request),
         .verdict = std::move(verdict),
         .answer = {}});
}

void Workers::WritePart(Task task) const {
  Result<std::shared_ptr<BodyFile>> file =
      task.file ? std::move(task.file) : BodyFile::Make(body_folder_, body_files_, task.whose);
  if (file) {
    const Status written = (*file)->Append(task.part);
    if (!written) file = written.error();
  }
  done_({.connection = task.connection,
         .ticket = task.ticket,
         .request = {},
         .verdict = {},
         .answer = {},
         .written = std::move(file)});
}

bool Workers::Answer(Task& task, MayWait may_wait) const {
  const Respond respond = RespondTo(task);
  const std::string request_id = task.request.request_id;
  try {
    return handlers_.answer(task.request, respond, may_wait);
  } catch (const std::exception& fault) {
    LogFault(fault, request_id);
    respond(Failed());
    return true;
  }
}

// The function owns all that it needs: the reply may come when these workers are gone.
Respond Workers::RespondTo(const Task& task) const {
  return [stopping = stopping_, done = done_, connection = task.connection, ticket = task.ticket,
          asked = task.form](Reply reply) {
    AnswerForm form = asked;
    form.close = form.close || *stopping;
    std::string answer = WriteAnswer(std::move(reply), form);
    done({.connection = connection,
          .ticket = ticket,
          .request = {},
          .verdict = {},
          .answer = std::move(answer),
          .close = form.close});
  };
}

}  // namespace stepscope

#include "server/edge/workers.h"

#include <signal.h>

#include <exception>

#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr std::size_t kStackBytes = 8 * 1024 * 1024;

void LogFault(const std::exception& fault, const std::string& request_id) {
  LogError("a handler failed: {}, request {}", fault.what(), request_id);
}

Reply Failed() {
  return {.status = 500, .content_type = "", .body = "", .headers = {}};
}

}  // namespace

Workers::Workers(std::size_t threads, std::size_t most_queued, const EdgeHandlers& handlers,
                 const std::atomic<bool>& stopping, std::function<void(Done)> done)
    : most_queued_(most_queued), handlers_(handlers), stopping_(stopping), done_(std::move(done)) {
  sigset_t all, before;  // signals go to the main thread only
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  for (std::size_t count = 0; count < threads; ++count) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, &Workers::Start, this) != 0) break;
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
    changed_.notify_all();
  }
  for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  threads_.clear();
}

void* Workers::Start(void* workers) {
  static_cast<Workers*>(workers)->Run();
  return nullptr;
}

bool Workers::Add(Task& task) {
  std::lock_guard lock(mutex_);
  if (stopped_ || queue_.size() >= most_queued_) return false;
  queue_.push_back(std::move(task));
  changed_.notify_one();
  return true;
}

std::size_t Workers::queued() const {
  std::lock_guard lock(mutex_);
  return queue_.size();
}

bool Workers::Next(Task& task) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || !queue_.empty(); });
  if (stopped_) return false;
  task = std::move(queue_.front());
  queue_.pop_front();
  return true;
}

void Workers::Run() {
  AnswerWriter writer;
  while (true) {
    Task task;
    if (!Next(task)) return;
    done_(task.ask ? Ask(std::move(task)) : Answer(std::move(task), writer));
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

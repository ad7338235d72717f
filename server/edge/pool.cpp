#include "server/edge/pool.h"

#include <signal.h>

namespace stepscope {
namespace {

constexpr std::size_t kStackBytes = 8 * 1024 * 1024;

}  // namespace

ConnectionPool::ConnectionPool(std::size_t threads, std::size_t most_waiting, Serve serve)
    : most_waiting_(most_waiting), serve_(std::move(serve)) {
  sigset_t all, before;  // signals go to the main thread only
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  for (std::size_t count = 0; count < threads; ++count) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, &ConnectionPool::Start, this) != 0) break;
    pthread_setname_np(thread, "http");
    threads_.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void* ConnectionPool::Start(void* pool) {
  static_cast<ConnectionPool*>(pool)->Run();
  return nullptr;
}

std::optional<Socket> ConnectionPool::Next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || !queue_.empty(); });
  if (stopped_) return std::nullopt;
  std::optional<Socket> next(std::move(queue_.front()));
  queue_.pop_front();
  return next;
}

void ConnectionPool::Run() {
  while (std::optional<Socket> socket = Next()) serve_(std::move(*socket));
}

bool ConnectionPool::Add(Socket socket) {
  std::lock_guard lock(mutex_);
  if (stopped_ || queue_.size() >= most_waiting_) return false;
  queue_.push_back(std::move(socket));
  changed_.notify_one();
  return true;
}

std::size_t ConnectionPool::waiting() const {
  std::lock_guard lock(mutex_);
  return queue_.size();
}

void ConnectionPool::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    queue_.clear();
    changed_.notify_all();
  }
  for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  threads_.clear();
}

}  // namespace stepscope

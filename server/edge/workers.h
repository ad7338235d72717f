#pragma once

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "server/edge/body_file.h"
#include "server/edge/budget.h"
#include "server/edge/handlers.h"
#include "server/edge/http/write_answer.h"
#include "server/edge/options.h"

namespace stepscope {

// A request on its way to a worker.
struct Task {
  std::uint64_t connection = 0;
  std::uint64_t ticket = 0;  // number among the connection's tasks
  bool ask = false;          // decide about the head; otherwise answer the whole
  Lane lane = Lane::kAll;
  Request request;
  ByteBudget::Hold body;
  AnswerForm form;
  std::string part = {};                // a part of a body, for the file; "": answer
  std::shared_ptr<BodyFile> file = {};  // null: it is yet to be made
  std::string whose = {};               // as HeadVerdict has it
};

// A task that a worker is done with. The body is given up on the way.
struct Done {
  std::uint64_t connection = 0, ticket = 0;
  bool ask = false;
  Request request;      // for `ask`: the head, as it was changed
  HeadVerdict verdict;  // for `ask`
  std::string answer;   // otherwise: the bytes of the answer
  bool close = false;   // close the connection after it
  // After a part of a body: the file that has it, or the reason why none has.
  std::optional<Result<std::shared_ptr<BodyFile>>> written = {};
};

// Threads that call the handlers, with a stack of 8 MB whatever the shell's limit says (parsers of
// libraries recurse), and with a queue that has a bound. Each lane keeps to its share; within that,
// first come, first served. The waiting thread that worked last goes on: its stack and its memory
// are still in the processor's cache. An exception of a handler becomes a 500 here.
class Workers {
 public:
  // `done` is called on the workers' threads, and on those on which replies come later; copies of
  // it may outlive this. While `stopping`, answers close the connection.
  Workers(std::size_t threads, std::size_t most_queued, const EdgeHandlers& handlers,
          std::shared_ptr<const std::atomic<bool>> stopping, std::function<void(Done)> done,
          const EdgeOptions& options = {});
  ~Workers() { Stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // False, and the task is as it was, when too many wait, or too many of its lane. Safe from any
  // thread, as all functions here.
  bool Add(Task& task);

  // Calls the handler on the caller's thread. False, and the task is as it was, where it may not
  // wait and would have to.
  bool Answer(Task& task, MayWait may_wait) const;

  std::size_t queued() const;

  // Waits for the calls that run; those that wait are forgotten. From one thread.
  void Stop();

 private:
  struct Waiting {
    std::uint64_t place = 0;  // number in the order of arrival
    Task task;
  };
  struct Queue {
    std::deque<Waiting> waiting;
    std::size_t running = 0;
    std::size_t most_waiting = 0, most_running = 0;

    std::size_t CanRun() const { return std::min(waiting.size(), most_running - running); }
  };

  // A thread, and how it is woken.
  struct Worker {
    Workers* home = nullptr;
    std::condition_variable called;
    bool idle = false;
  };

  static void* Start(void* worker);
  void Run(Worker& worker);
  // Waits for a task; false when stopped. `before`: the lane of the task that is done.
  bool Next(Worker& worker, std::optional<Lane> before, Task& task);
  Worker* TakeWanted();
  Queue* First();
  Queue& QueueOf(Lane lane) { return queues_[static_cast<std::size_t>(lane)]; }
  std::size_t waiting() const;
  void Ask(Task task) const;
  void WritePart(Task task) const;
  Respond RespondTo(const Task& task) const;

  const EdgeHandlers& handlers_;
  const std::shared_ptr<const std::atomic<bool>> stopping_;
  const std::function<void(Done)> done_;
  const std::string body_folder_;
  const std::shared_ptr<BodyShares> body_files_;
  mutable std::mutex mutex_;  // not a Guarded, which wakes everyone: one worker is called
  std::vector<Worker> workers_;
  std::vector<Worker*> idle_;  // the one that worked last is last
  std::array<Queue, kLanes> queues_;
  std::size_t called_ = 0;  // woken, and not yet here
  std::uint64_t next_place_ = 0;
  bool stopped_ = false;
  std::vector<pthread_t> threads_;
};

}  // namespace stepscope

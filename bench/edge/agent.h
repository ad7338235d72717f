#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/time.h"

namespace stepscope {

// The service that the agents of a load push to.
struct LoadTarget {
  int port = 0;
  std::string path;
  std::string type;
  std::string token;  // empty for none
  Duration every = 1s;
  std::int64_t agents_per_address = 50;  // 127.2.x.y, as if they were on several hosts
};

// The outcome of the pushes of all agents.
struct LoadFigures {
  std::int64_t due = 0, answered = 0, busy = 0, broken = 0, connects = 0;
  std::map<int, std::int64_t> other;          // status -> answers that are neither 200, 429 nor 503
  std::string first_other;                    // the first of their bodies
  std::vector<std::int64_t> latencies_us;     // from the time a push was due to its answer
  std::vector<std::int64_t> cut_at_us;        // when a request was sent that never got an answer
  std::map<std::int64_t, std::int64_t> last;  // agent -> the last number acknowledged
};

// One agent: sends its pushes in order over one kept connection, one at a time, each when it is
// due, again when the service says it is busy or the connection breaks. Used by one thread.
class LoadAgent {
 public:
  LoadAgent(std::int64_t number, const LoadTarget& target, LoadFigures& figures);

  void Add(std::string push) { pushes_.push_back(std::move(push)); }
  void Begin(SteadyTime first) { due_ = wake_ = first; }

  // Does what can be done now; to be called when its time has come or its socket is ready.
  void Step(SteadyTime now);

  int socket() const { return socket_.get(); }
  bool wants_to_write() const { return sending_; }
  bool idle() const { return !sending_ && !waiting_; }
  bool done() const { return next_ == pushes_.size() || refused_; }
  SteadyTime wake() const { return wake_; }
  std::size_t served() const { return next_; }
  std::size_t pushes() const { return pushes_.size(); }

 private:
  void Ask(SteadyTime now);
  void Connect();
  void Write(SteadyTime now);
  void Read(SteadyTime now);
  void Take(int status, const std::string& body, SteadyTime now);
  void Break(SteadyTime now);

  const std::int64_t number_;
  const LoadTarget& target_;
  LoadFigures& figures_;
  Descriptor socket_;
  std::vector<std::string> pushes_;
  std::size_t next_ = 0, sent_ = 0;
  std::string request_, answer_;
  SteadyTime due_, wake_, asked_;
  bool sending_ = false, waiting_ = false, refused_ = false;
};

}  // namespace stepscope

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "core/base/descriptor.h"
#include "core/base/guarded.h"
#include "core/base/time.h"

namespace stepscope {

// Closes descriptors that other processes passed to the agent, and the sockets on which they could.
// A close may take as long as the maker of the file wishes: a socket lingers, a file system answers
// late, and a socket closes what is left in its queue. So it happens on a thread of the user from
// whom they came, at most kMostThreads of them; a user whose files do not close keeps nobody else
// waiting until there are as many such users. Any thread may call its functions, which never wait.
// Copies are the same closer.
class Closer {
 public:
  static constexpr int kMostThreads = 8;

  Closer() : state_(std::make_shared<Guarded<State>>()) {}

  // Takes the descriptor over. A socket does not linger, whatever its maker asked for.
  void Close(std::uint32_t user, Descriptor descriptor) const;

  // How many descriptors of this user are not closed yet.
  std::size_t Waiting(std::uint32_t user) const;

  // Whether so many of them wait for one that has not closed for a second that no more should be
  // taken from this user.
  bool Stuck(std::uint32_t user) const;

 private:
  struct Queue {
    std::deque<Descriptor> waiting;
    std::size_t open = 0;  // those that wait, and the one that is being closed
    bool served = false;   // by a thread
    SteadyTime began{};    // the newest close of the thread
  };
  struct State {
    std::map<std::uint32_t, Queue> users;
    int threads = 0;
  };
  struct Next {
    std::uint32_t user = 0;
    Descriptor descriptor;
  };
  static Next TakeNext(State& state, std::uint32_t user);
  static void Run(Guarded<State>& state, std::uint32_t user);

  std::shared_ptr<Guarded<State>> state_;  // shared with threads that may outlive everything
};

}  // namespace stepscope

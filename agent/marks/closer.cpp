#include "agent/marks/closer.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "core/base/detached_thread.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostUnclosed = 64;
constexpr Duration kPatience = 1s;

// Does nothing to what is no socket. Never called by whoever must not wait: the maker of a socket
// can hold its lock.
void EndLinger(const Descriptor& descriptor) {
  const linger none{.l_onoff = 0, .l_linger = 0};
  setsockopt(descriptor.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

}  // namespace

void Closer::Close(std::uint32_t user, Descriptor descriptor) const {
  if (!descriptor) return;
  const bool starts = state_->Change([&](State& state) {
    Queue& queue = state.users[user];
    queue.waiting.push_back(std::move(descriptor));
    if (++queue.open == 1) queue.began = std::chrono::steady_clock::now();
    if (queue.served || state.threads >= kMostThreads) return false;
    ++state.threads;
    return queue.served = true;
  });
  if (!starts) return;
  if (StartDetachedThread("close", [state = state_, user] { Run(*state, user); })) return;
  // Without a thread the descriptor waits for the next call.
  state_->Change([user](State& state) {
    --state.threads;
    state.users[user].served = false;
  });
}

std::size_t Closer::Waiting(std::uint32_t user) const {
  return state_->Read([user](const State& state) {
    const auto found = state.users.find(user);
    return found == state.users.end() ? 0 : found->second.open;
  });
}

bool Closer::Stuck(std::uint32_t user) const {
  const SteadyTime now = std::chrono::steady_clock::now();
  return state_->Read([&](const State& state) {
    const auto found = state.users.find(user);
    return found != state.users.end() && found->second.open > kMostUnclosed &&
           now - found->second.began > kPatience;
  });
}

// The next descriptor of the user whom the thread serves, or of another whom no thread serves; none
// when the thread may end.
Closer::Next Closer::TakeNext(State& state, std::uint32_t user) {
  auto found = state.users.find(user);
  if (found->second.waiting.empty()) {
    state.users.erase(found);
    found = std::ranges::find_if(state.users, [](const auto& each) { return !each.second.served; });
    if (found == state.users.end()) {
      --state.threads;
      return {};
    }
    found->second.served = true;
  }
  Queue& queue = found->second;
  queue.began = std::chrono::steady_clock::now();
  Next next{found->first, std::move(queue.waiting.front())};
  queue.waiting.pop_front();
  return next;
}

void Closer::Run(Guarded<State>& state, std::uint32_t user) {
  for (;;) {
    Next next = state.Change([user](State& all) { return TakeNext(all, user); });
    if (!next.descriptor) return;
    user = next.user;
    EndLinger(next.descriptor);
    next.descriptor = Descriptor();
    state.Change([user](State& all) { --all.users[user].open; });
  }
}

}  // namespace stepscope

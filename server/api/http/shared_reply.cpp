#include "server/api/http/shared_reply.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/base/guarded.h"
#include "server/access/caller.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostShared = 32;
constexpr std::size_t kMostSharedBody = 1 << 20;
constexpr Duration kLongestWait = 10s;  // for another caller's computation

struct SharedReply {
  bool computing = false;
  SteadyTime fresh_until{};
  Reply reply;
};
using SharedReplies = std::unordered_map<std::string, SharedReply>;

// Lengths stand before the parts, so that no two requests have the same key.
std::string KeyOf(const Request& request) {
  std::string key;
  const auto add = [&](std::string_view part) {
    key += std::to_string(part.size());
    key += ':';
    key += part;
  };
  add(request.path);
  add(request.query);
  add(request.Header("accept"));
  if (request.caller) {
    for (const std::string& scope : request.caller->scopes) add(scope);
  }
  return key;
}

// What a caller has to do: take a reply that is there, wait for one, compute one for others too, or
// compute one for itself alone.
enum class SharedTurn { kTake, kWait, kComputeForAll, kComputeAlone };

SharedTurn SharedTurnOf(SharedReplies& replies, const std::string& key, SteadyTime now,
                        Reply& reply) {
  if (const auto found = replies.find(key); found != replies.end()) {
    if (found->second.computing) return SharedTurn::kWait;
    if (now < found->second.fresh_until) {
      reply = found->second.reply;
      return SharedTurn::kTake;
    }
  }
  std::erase_if(replies, [now](const auto& each) {
    return !each.second.computing && each.second.fresh_until <= now;
  });
  if (replies.size() >= kMostShared) return SharedTurn::kComputeAlone;
  replies[key].computing = true;
  return SharedTurn::kComputeForAll;
}

// Ends a computation, whatever a handler throws: without a reply to share the place is given up.
struct Computation {
  Guarded<SharedReplies>& replies;
  const std::string& key;
  std::optional<SharedReply> shared = {};

  ~Computation() {
    replies.Change([&](SharedReplies& all) {
      if (shared) all[key] = std::move(*shared);
      if (!shared) all.erase(key);
    });
  }
};

}  // namespace

Route Shared(Duration fresh, const Clock& clock, Route route) {
  // Shared, as routes are copied.
  const auto replies = std::make_shared<Guarded<SharedReplies>>();
  route.handler = [call = std::move(route.handler), replies, fresh, &clock](
                      const Request& request, const PathParameters& path) {
    const std::string key = KeyOf(request);
    Reply reply;
    const auto turn = [&] {
      return replies->Change(
          [&](SharedReplies& all) { return SharedTurnOf(all, key, clock.Steady(), reply); });
    };
    SharedTurn now = turn();
    if (now == SharedTurn::kWait) {
      const auto is_over = [&](const SharedReplies& all) {
        const auto found = all.find(key);
        return found == all.end() || !found->second.computing;
      };
      replies->Wait({}, kLongestWait, is_over);
      now = turn();
    }
    if (now == SharedTurn::kTake) return reply;
    if (now != SharedTurn::kComputeForAll) return call(request, path);
    Computation computation{*replies, key};
    reply = call(request, path);
    if (reply.status == 200 && reply.body.size() <= kMostSharedBody) {
      computation.shared = SharedReply{false, clock.Steady() + fresh, reply};
    }
    return reply;
  };
  return route;
}

}  // namespace stepscope

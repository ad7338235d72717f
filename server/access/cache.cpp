#include "server/access/cache.h"

namespace stepscope {

CallerCache::Found CallerCache::Find(const std::string& key, SteadyTime now) const {
  return state_.Read([&](const State& state) -> Found {
    const auto good = state.good.find(key);
    if (good != state.good.end()) {
      const Duration age = now - good->second.put;
      if (age < kFresh) return {kGood, good->second.caller};
      if (age < kTrusted) return {kWasGood, nullptr};
    }
    const auto bad = state.bad.find(key);
    return {bad != state.bad.end() && now - bad->second < kFresh ? kBad : kNotKnown, nullptr};
  });
}

std::uint64_t CallerCache::generation() const {
  return state_.Read([](const State& state) { return state.generation; });
}

void CallerCache::PutGood(const std::string& key, std::shared_ptr<const Caller> caller,
                          SteadyTime now, std::uint64_t generation) {
  state_.Change([&](State& state) {
    if (state.generation != generation) return;
    if (state.good.size() >= kMost) {
      std::erase_if(state.good,
                    [&](const auto& entry) { return now - entry.second.put >= kFresh; });
    }
    if (state.good.size() >= kMost) state.good.clear();  // all are loaded once more
    state.good[key] = {std::move(caller), now};
    state.bad.erase(key);
  });
}

void CallerCache::PutBad(const std::string& key, SteadyTime now) {
  state_.Change([&](State& state) {
    state.good.erase(key);
    if (state.bad.size() >= kMostBad) {
      std::erase_if(state.bad, [&](const auto& entry) { return now - entry.second >= kFresh; });
    }
    if (state.bad.size() >= kMostBad) state.bad.clear();
    state.bad[key] = now;
  });
}

void CallerCache::ForgetToken(const std::string& token_id) {
  state_.Change([&](State& state) {
    ++state.generation;
    std::erase_if(state.good,
                  [&](const auto& entry) { return entry.second.caller->token_id == token_id; });
  });
}

void CallerCache::ForgetCredential(const std::string& key) {
  state_.Change([&](State& state) {
    ++state.generation;
    state.good.erase(key);
  });
}

std::size_t CallerCache::size() const {
  return state_.Read([](const State& state) { return state.good.size() + state.bad.size(); });
}

}  // namespace stepscope

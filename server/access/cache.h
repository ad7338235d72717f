#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/base/guarded.h"
#include "core/base/time.h"
#include "server/access/caller.h"

namespace stepscope {

// The callers behind credentials, for 30 s: for that time a token that another replica revoked may
// still work here. A key is the credential's kind and the SHA-256 of its text. Bad credentials are
// remembered as well, apart, so that they push out no good one. Bounded. Safe from any thread,
// never waits.
class CallerCache {
 public:
  static constexpr Duration kFresh = 30s;
  // A credential that was good so lately is put to the database even while its address is kept out
  // for bad ones.
  static constexpr Duration kTrusted = 3600s;
  static constexpr std::size_t kMost = 10'000, kMostBad = 10'000;

  enum Known { kNotKnown, kGood, kWasGood, kBad };
  struct Found {
    Known known = kNotKnown;
    std::shared_ptr<const Caller> caller;  // for kGood; shared with its requests
  };
  Found Find(const std::string& key, SteadyTime now) const;

  // Keep an answer of the database, but not when something was forgotten after `generation` was
  // read: the answer may be older than that.
  std::uint64_t generation() const;
  void PutGood(const std::string& key, std::shared_ptr<const Caller> caller, SteadyTime now,
               std::uint64_t generation);
  void PutBad(const std::string& key, SteadyTime now);

  // Forget at once everything that came with this token, or this one credential.
  void ForgetToken(const std::string& token_id);
  void ForgetCredential(const std::string& key);

  std::size_t size() const;  // entries of both kinds

 private:
  struct Entry {
    std::shared_ptr<const Caller> caller;
    SteadyTime put{};
  };
  struct State {
    std::map<std::string, Entry> good;
    std::map<std::string, SteadyTime> bad;
    std::uint64_t generation = 0;
  };
  Guarded<State> state_;
};

}  // namespace stepscope

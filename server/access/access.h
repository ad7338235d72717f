#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "server/access/bad_tokens.h"
#include "server/access/cache.h"
#include "server/store/access/sessions.h"

namespace stepscope {

// What a request shows to say who asks.
struct Credentials {
  std::optional<std::string> token;    // what stands behind "Authorization: Bearer"
  std::optional<std::string> session;  // the cookie
  std::string certificate;             // the verified name; "" without one
};

// What was found out about a request's sender.
struct Identity {
  enum Kind {
    kKnown,        // `caller`
    kNobody,       // it shows nothing
    kBad,          // what it shows is unknown, expired or revoked: nobody is told which
    kTooMany,      // too many bad tokens from this address; wait for `retry_after`
    kAsk,          // the database has to be asked
    kUnavailable,  // and does not answer
  };
  Kind kind = kNobody;
  std::shared_ptr<const Caller> caller = nullptr;  // shared with the cache
  Duration retry_after{};
};

// Tokens and sessions tolerate this much between the clocks of replicas.
inline constexpr Duration kClockTolerance = 5min;
inline constexpr Duration kSessionIdle = std::chrono::hours(12),
                          kSessionLife = std::chrono::hours(168);

// Finds out who asks, and signs browsers in and out. Where tokens are not demanded, whoever asks
// from this machine is "local", an admin. Safe from any thread; outlives what asks it.
class Access {
 public:
  Access(Database& database, const Clock& clock, bool demand_tokens);

  bool open() const { return !demand_tokens_; }

  // From memory: never waits. `peer` is the address of the client.
  Identity Check(const Credentials& shown, std::string_view peer);
  // The same, and asks the database where it has to.
  Identity Ask(const Credentials& shown, std::string_view peer);

  // A browser that shows a token. kKnown with the cookie's new secret, or why not; never kAsk.
  struct SignedIn {
    Identity identity;
    std::string cookie;
  };
  SignedIn SignIn(const std::string& token, std::string_view peer);
  Status SignOut(const std::string& cookie);

  // To be called after a token was revoked: here it ends at once, in other replicas within 30 s.
  void ForgetToken(const std::string& token_id) { cache_.ForgetToken(token_id); }

 private:
  enum CredentialKind { kToken, kCookie };
  Identity CheckCredential(const std::string& text, CredentialKind kind, std::string_view peer);
  Identity AskCredential(const std::string& text, CredentialKind kind, std::string_view peer);
  Result<std::shared_ptr<const Caller>> LookUpToken(const std::string& text);
  Result<std::shared_ptr<const Caller>> LookUpSession(const std::string& cookie);
  Result<std::string> OpenSession(const Caller& caller, std::int64_t expires_us);
  std::int64_t now_us() const { return ToMicros(clock_.Now()); }

  Database& database_;
  const Clock& clock_;
  const bool demand_tokens_;
  const std::shared_ptr<const Caller> local_;  // shared with the requests of this machine
  CallerCache cache_;
  BadTokens bad_;
};

}  // namespace stepscope

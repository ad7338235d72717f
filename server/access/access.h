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

// The credentials of a request.
struct Credentials {
  std::optional<std::string> token;    // the text behind "Authorization: Bearer"
  std::optional<std::string> session;  // the cookie
  std::string certificate;             // the verified name; "" without one
};

// The sender of a request, as far as it was found out.
struct Identity {
  enum Kind {
    kKnown,        // `caller`
    kNobody,       // it shows nothing
    kBad,          // its credentials are unknown, expired or revoked: nobody is told which
    kTooMany,      // too many bad tokens from this address; wait for `retry_after`
    kAsk,          // the database has to be asked
    kUnavailable,  // the database does not answer
  };
  Kind kind = kNobody;
  std::shared_ptr<const Caller> caller = nullptr;  // shared with the cache
  Duration retry_after{};
};

// Tokens and sessions tolerate this difference between the clocks of replicas.
inline constexpr Duration kClockTolerance = 5min;
inline constexpr Duration kSessionIdle = std::chrono::hours(12),
                          kSessionLife = std::chrono::hours(168);

// Finds out who asks, and signs browsers in and out. Where tokens are not demanded, whoever asks
// from this machine is "local", an admin. Safe from any thread; outlives its callers.
class Access {
 public:
  Access(Database& database, const Clock& clock, bool demand_tokens);

  bool open() const { return !demand_tokens_; }

  // From memory: never waits. `peer` is the address of the client.
  Identity Check(const Credentials& shown, std::string_view peer);
  // From memory, or from the database where memory does not suffice.
  Identity Ask(const Credentials& shown, std::string_view peer);

  // Signs in a browser that shows a token: kKnown with the cookie's new secret, or why not; never
  // kAsk.
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
  static std::string CacheKey(const std::string& text, CredentialKind kind);
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

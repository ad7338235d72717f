#include "server/access/access.h"

#include <algorithm>

#include "core/base/log.h"
#include "core/base/peer_address.h"
#include "server/access/digest.h"
#include "server/access/token.h"

namespace stepscope {
namespace {

constexpr std::size_t kCookieLetters = 32, kDigestBytes = 32;

std::int64_t Micros(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

bool IsLive(std::int64_t expires_us, std::int64_t now_us) {
  return now_us <= expires_us + Micros(kClockTolerance);
}

// Null for a token that may not be used any more.
std::shared_ptr<const Caller> CallerOf(const TokenRow& token, Caller::How how,
                                       std::int64_t expires_us, std::int64_t now_us) {
  const std::optional<Role> role = ParseRole(token.role);
  expires_us = std::min(expires_us, token.expires_us);
  if (!role || token.revoked_us || !IsLive(expires_us, now_us)) return nullptr;
  return std::make_shared<const Caller>(
      Caller{token.name, token.token_id, *role, token.scopes, how, expires_us, token.nodes});
}

Identity Known(std::shared_ptr<const Caller> caller) {
  return {Identity::kKnown, std::move(caller), {}};
}

bool IsCookie(const std::string& text) {
  return text.size() == kCookieLetters && IsBase62(text);
}

}  // namespace

// A text that is good as a credential of one kind says nothing of it as one of the other.
std::string Access::CacheKey(const std::string& text, CredentialKind kind) {
  return (kind == kToken ? 't' : 'c') + Sha256(text);
}

Access::Access(Database& database, const Clock& clock, bool demand_tokens)
    : database_(database),
      clock_(clock),
      demand_tokens_(demand_tokens),
      local_(std::make_shared<const Caller>(
          Caller{"local", "", Role::kAdmin, {}, Caller::kOpen, {}})) {}

Identity Access::Check(const Credentials& shown, std::string_view peer) {
  if (!demand_tokens_ && IsThisMachine(peer)) return Known(local_);
  if (shown.token) return CheckCredential(*shown.token, kToken, peer);
  if (shown.session) return CheckCredential(*shown.session, kCookie, peer);
  if (shown.certificate.empty()) return {};
  return Known(std::make_shared<const Caller>(
      Caller{shown.certificate, "", Role::kAgent, {}, Caller::kCertificate, {}}));
}

Identity Access::CheckCredential(const std::string& text, CredentialKind kind,
                                 std::string_view peer) {
  const SteadyTime now = clock_.Steady();
  const CallerCache::Found found = cache_.Find(CacheKey(text, kind), now);
  if (found.known == CallerCache::kGood) {
    if (IsLive(*found.caller->expires_us, now_us())) return Known(found.caller);
    return {Identity::kBad, nullptr, {}};
  }
  const Duration wait = bad_.Wait(peer, now);
  if (wait > Duration::zero() && found.known != CallerCache::kWasGood) {
    return {Identity::kTooMany, nullptr, wait};
  }
  const bool known_bad = found.known == CallerCache::kBad;
  const bool well_formed = kind == kToken ? ParseToken(text).has_value() : IsCookie(text);
  if (!known_bad && well_formed) return {Identity::kAsk, nullptr, {}};
  // The tabs of a browser all show the same cookie when its time is over: it counts once.
  if (kind == kToken || !known_bad) bad_.Count(peer, now);
  return {Identity::kBad, nullptr, {}};
}

Identity Access::Ask(const Credentials& shown, std::string_view peer) {
  Identity identity = Check(shown, peer);
  if (identity.kind != Identity::kAsk) return identity;
  return AskCredential(shown.token ? *shown.token : *shown.session, shown.token ? kToken : kCookie,
                       peer);
}

Identity Access::AskCredential(const std::string& text, CredentialKind kind,
                               std::string_view peer) {
  const std::string key = CacheKey(text, kind);
  const std::uint64_t generation = cache_.generation();
  const Result<std::shared_ptr<const Caller>> caller =
      kind == kToken ? LookUpToken(text) : LookUpSession(text);
  if (!caller) {
    LogWarning("access: {}", caller.error().message);
    return {Identity::kUnavailable, nullptr, {}};
  }
  const SteadyTime now = clock_.Steady();
  if (*caller) {
    cache_.PutGood(key, *caller, now, generation);
    return Known(*caller);
  }
  cache_.PutBad(key, now);
  bad_.Count(peer, now);
  return {Identity::kBad, nullptr, {}};
}

// An unknown id costs as much as a wrong secret: one query and one comparison.
Result<std::shared_ptr<const Caller>> Access::LookUpToken(const std::string& text) {
  const std::optional<TokenParts> parts = ParseToken(text);
  if (!parts) return std::shared_ptr<const Caller>();
  Result<Database::Lease> lease = database_.Acquire();
  if (!lease) return lease.error();
  const auto token = FindToken(**lease, std::string(parts->id));
  if (!token) return token.error();
  const std::string hash = Sha256(parts->secret);
  const bool same =
      SameDigest(hash, *token ? (*token)->secret_hash : std::string(kDigestBytes, '\0'));
  if (!*token || !same || (*token)->role != ToText(parts->role)) {
    return std::shared_ptr<const Caller>();
  }
  const std::int64_t at_us = now_us();
  auto caller = CallerOf(**token, Caller::kToken, (*token)->expires_us, at_us);
  // A database that only reads for the moment keeps nobody out.
  if (caller) (void)TouchToken(**lease, (*token)->token_id, at_us);
  return caller;
}

Result<std::shared_ptr<const Caller>> Access::LookUpSession(const std::string& cookie) {
  Result<Database::Lease> lease = database_.Acquire();
  if (!lease) return lease.error();
  const std::string hash = Sha256(cookie);
  const auto found = FindSession(**lease, hash);
  if (!found) return found.error();
  const std::int64_t at_us = now_us();
  if (!*found || (*found)->session.last_used_us + Micros(kSessionIdle) < at_us) {
    return std::shared_ptr<const Caller>();
  }
  auto caller = CallerOf((*found)->token, Caller::kSession, (*found)->session.expires_us, at_us);
  if (caller) (void)TouchSession(**lease, hash, at_us);
  return caller;
}

Access::SignedIn Access::SignIn(const std::string& token, std::string_view peer) {
  Identity identity = CheckCredential(token, kToken, peer);
  if (identity.kind == Identity::kAsk) identity = AskCredential(token, kToken, peer);
  if (identity.kind != Identity::kKnown) return {identity, ""};
  Caller caller = *identity.caller;
  caller.how = Caller::kSession;
  caller.expires_us = std::min(*caller.expires_us, now_us() + Micros(kSessionLife));
  const Result<std::string> cookie = OpenSession(caller, *caller.expires_us);
  if (!cookie) {
    LogWarning("access: {}", cookie.error().message);
    return {{Identity::kUnavailable, nullptr, {}}, ""};
  }
  return {Known(std::make_shared<const Caller>(std::move(caller))), *cookie};
}

Result<std::string> Access::OpenSession(const Caller& caller, std::int64_t expires_us) {
  Result<std::string> cookie = RandomBase62(kCookieLetters);
  if (!cookie) return cookie;
  Result<Database::Lease> lease = database_.Acquire();
  if (!lease) return lease.error();
  const std::int64_t at_us = now_us();
  const SessionRow session{Sha256(*cookie), caller.token_id, at_us, at_us, expires_us};
  const Status made = InsertSession(**lease, session, at_us - Micros(kSessionIdle));
  return made ? cookie : Result<std::string>(made.error());
}

Status Access::SignOut(const std::string& cookie) {
  const std::string hash = Sha256(cookie);
  Result<Database::Lease> lease = database_.Acquire();
  const Status deleted = lease ? DeleteSession(**lease, hash) : Status(lease.error());
  cache_.ForgetCredential(CacheKey(cookie, kCookie));
  return deleted;
}

}  // namespace stepscope

#include "server/front/proxy.h"

#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "core/model/names.h"
#include "server/access/caller.h"
#include "server/access/digest.h"

namespace stepscope {
namespace {

constexpr std::string_view kUser = "x-stepscope-user", kRole = "x-stepscope-role",
                           kSecret = "x-stepscope-proxy-secret", kFor = "x-forwarded-for",
                           kProto = "x-forwarded-proto";
// Headers that only a proxy may send.
constexpr std::string_view kTheirs[] = {kUser,
                                        kRole,
                                        kSecret,
                                        kFor,
                                        kProto,
                                        "forwarded",
                                        "x-real-ip",
                                        "x-forwarded-host",
                                        "x-forwarded-port",
                                        "x-forwarded-prefix",
                                        "x-forwarded-server",
                                        "x-client-ip",
                                        "true-client-ip"};
constexpr std::size_t kLeastSecret = 16;

// Some programs take '_' for '-', so headers are removed in both spellings.
bool IsTheirs(std::string name) {
  std::ranges::replace(name, '_', '-');
  return std::ranges::count(kTheirs, name) > 0;
}

using Headers = std::map<std::string, std::string>;

Headers TakeTheirs(Request& head) {
  Headers taken;
  for (auto at = head.headers.begin(); at != head.headers.end();) {
    if (IsTheirs(at->first)) {
      taken.insert(head.headers.extract(at++));
    } else {
      ++at;
    }
  }
  return taken;
}

std::string_view FindHeader(const Headers& headers, std::string_view name) {
  const auto found = headers.find(std::string(name));
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

bool IsTrusted(const ProxyTrust& trust, const Request& head, const Headers& theirs) {
  if (!IsProxyAddress(trust, head.peer)) return false;
  const std::string_view secret = FindHeader(theirs, kSecret);
  const bool knows = !trust.secret.empty() && SameDigest(Sha256(secret), Sha256(trust.secret));
  return knows || (!trust.certificate.empty() && head.certificate == trust.certificate);
}

std::optional<Problem> RefuseHeader(std::string_view header, std::string_view why) {
  return Problem{"bad-request", Format("the proxy's {} {}", header, why), {}, {}};
}

std::string Behind(const std::string& peer) {
  return "behind " + peer;  // no address: nobody takes it for this machine
}

// The last address that is not one of our proxies: anyone may have written those before it.
std::optional<Problem> TakeClient(const ProxyTrust& trust, std::string_view forwarded,
                                  Request& head) {
  const std::string proxy = head.peer;
  head.peer = Behind(proxy);
  if (forwarded.empty()) return std::nullopt;
  const std::vector<std::string_view> hops = Split(forwarded, ',');
  std::string client;
  for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
    client = Trim(*hop);
    if (!ParsePeer(client))
      return RefuseHeader("X-Forwarded-For", "holds something else than addresses");
    if (!IsProxyAddress(trust, client)) break;
  }
  if (!IsThisMachine(client)) head.peer = client;
  return std::nullopt;
}

std::optional<Problem> TakeCaller(const Headers& theirs, Request& head) {
  const std::string user(FindHeader(theirs, kUser));
  const std::string_view word = FindHeader(theirs, kRole);
  if (user.empty()) return std::nullopt;
  if (!CheckLabel("user", user) || user.find(',') != user.npos) {
    return RefuseHeader("X-Stepscope-User", "is not one name");
  }
  const std::optional<Role> role = word.empty() ? Role::kReader : ParseRole(word);
  if (!role) return RefuseHeader("X-Stepscope-Role", "is not agent, reader, operator or admin");
  head.caller = std::make_shared<const Caller>(Caller{user, "", *role, {}, Caller::kProxy, {}});
  return std::nullopt;
}

}  // namespace

bool IsProxyAddress(const ProxyTrust& trust, const std::string& peer) {
  if (peer == "unix") return trust.unix_sockets;
  const Result<PeerAddress> address = ParsePeer(peer);
  return address && std::ranges::any_of(trust.ranges, [&](const PeerRange& range) {
           return range.Holds(*address);
         });
}

Result<ProxyTrust> ReadProxyTrust(const std::vector<std::string>& ranges, std::string_view secret,
                                  std::string certificate) {
  ProxyTrust trust;
  for (const std::string& text : ranges) {
    if (text == "unix") {
      trust.unix_sockets = true;
      continue;
    }
    const Result<PeerRange> range = ParsePeerRange(text);
    if (!range) return range.error();
    trust.ranges.push_back(*range);
  }
  trust.secret = Trim(secret);
  trust.certificate = std::move(certificate);
  if (!trust.secret.empty() && trust.secret.size() < kLeastSecret) {
    return Invalid(Format("the proxy's secret has {} bytes, at least {} are wanted",
                          trust.secret.size(), kLeastSecret));
  }
  if (!ranges.empty() && trust.secret.empty() && trust.certificate.empty()) {
    return Invalid("a trusted proxy needs a secret or a client certificate to be known by");
  }
  return trust;
}

std::optional<Problem> ResolveProxy(const ProxyTrust& trust, Request& head) {
  const Headers theirs = TakeTheirs(head);
  if (!IsTrusted(trust, head, theirs)) {
    if (!theirs.empty() && IsThisMachine(head.peer)) head.peer = Behind(head.peer);
    return std::nullopt;
  }
  if (auto problem = TakeClient(trust, FindHeader(theirs, kFor), head)) return problem;
  const std::string_view proto = FindHeader(theirs, kProto);
  if (!proto.empty()) head.secure = proto == "https";
  head.certificate.clear();  // it was the proxy's own
  return TakeCaller(theirs, head);
}

}  // namespace stepscope

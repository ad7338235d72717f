#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/peer_address.h"
#include "server/front/problem.h"

namespace stepscope {

// The proxies whose word about a client is taken: they come from one of the addresses and show the
// secret in X-Stepscope-Proxy-Secret, or a client certificate of this name.
struct ProxyTrust {
  std::vector<PeerRange> ranges;
  bool unix_sockets = false;  // a proxy on this machine that comes over a unix socket
  std::string secret;         // "" = no secret is enough
  std::string certificate;    // "" = no certificate is enough
};

// Reads "10.0.0.0/8", "::1" or "unix"; a secret is trimmed and needs 16 bytes. Errors name the
// thing.
Result<ProxyTrust> ReadProxyTrust(const std::vector<std::string>& ranges, std::string_view secret,
                                  std::string certificate);

// Whether a proxy may come from this address; its headers are believed only when it proves itself
// as well.
bool IsProxyAddress(const ProxyTrust& trust, const std::string& peer);

// Replaces what a trusted proxy says about its client: the peer (X-Forwarded-For), whether it came
// over TLS (X-Forwarded-Proto), and the caller (X-Stepscope-User, X-Stepscope-Role, "reader" when
// left out). These headers, in any spelling, are removed from every request, so that nobody after
// this can mistake them. A request through a proxy never counts as from this machine.
std::optional<Problem> ResolveProxy(const ProxyTrust& trust, Request& head);

}  // namespace stepscope

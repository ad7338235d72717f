#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// The sender of data as text is the name of its token, or the name of a proxy's user or of a
// certificate behind one of these, with which no token's name begins.
inline constexpr std::string_view kProxySender = "proxy:", kCertificateSender = "certificate:";

// The sender that alone may send data of a node.
struct NodeBinding {
  std::string node, token_name;
  std::int64_t bound_us = 0;
  std::string kind = {};  // "token", "proxy" or "certificate"; "" when an earlier version made it

  bool IsOf(std::string_view sender) const;
};

// A sender with data of a node, and whether some of it is stored for the first time.
struct NodeClaim {
  std::string node, sender;
  bool stores = false;
};
// Binds those nodes that nobody has to a claim that stores something; returns the bindings of all
// nodes of the claims. Part of the caller's transaction.
Result<std::vector<NodeBinding>> BindNodes(Connection&, std::vector<NodeClaim> claims,
                                           std::int64_t now_us);

// The number of nodes that were bound to this sender since then.
Result<std::int64_t> CountNewNodes(Connection&, std::string_view sender, std::int64_t since_us);

// NotFound names the node.
Result<NodeBinding> LoadNodeBinding(Connection&, const std::string& node);
Status DeleteNodeBinding(Connection&, const std::string& node);

}  // namespace stepscope

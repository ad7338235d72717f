#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/store/postgres/database.h"

namespace stepscope {

// The token that alone may send data of a node.
struct NodeBinding {
  std::string node, token_name;
  std::int64_t bound_us = 0;
  bool made = false;  // created by this call
};

// The node's binding; created for this token when there is none.
Result<NodeBinding> BindNode(Connection&, const std::string& node, const std::string& token_name,
                             std::int64_t now_us);

// The number of nodes that were bound to this token since then.
Result<std::int64_t> CountNewNodes(Connection&, const std::string& token_name,
                                   std::int64_t since_us);

// NotFound names the node.
Result<NodeBinding> LoadNodeBinding(Connection&, const std::string& node);
Status DeleteNodeBinding(Connection&, const std::string& node);

}  // namespace stepscope

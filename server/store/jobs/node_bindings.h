#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/store/postgres/database.h"

namespace stepscope {

// The name of the token whose the node's data is.
struct NodeBinding {
  std::string node, token_name;
  std::int64_t bound_us = 0;
  bool made = false;  // by this call
};

// The binding that stands, made with these when there is none.
Result<NodeBinding> BindNode(Connection&, const std::string& node, const std::string& token_name,
                             std::int64_t now_us);

// How many became this name's since then.
Result<std::int64_t> CountNewNodes(Connection&, const std::string& token_name,
                                   std::int64_t since_us);

// NotFound names the node.
Result<NodeBinding> LoadNodeBinding(Connection&, const std::string& node);
Status DeleteNodeBinding(Connection&, const std::string& node);

}  // namespace stepscope

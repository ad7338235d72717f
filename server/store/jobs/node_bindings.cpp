#include "server/store/jobs/node_bindings.h"

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr char kInsertBinding[] = R"(
insert into node_bindings (node, token_name, bound_us)
values ($1, $2, $3)
on conflict (node) do nothing)";
constexpr char kLoad[] = R"(
select token_name, bound_us
from node_bindings
where node = $1)";
constexpr char kCountBindings[] = R"(
select count(*)
from node_bindings
where token_name = $1 and bound_us > $2)";
constexpr char kDelete[] = "delete from node_bindings where node = $1";

Error NotBound(const std::string& node) {
  return NotFound(Format("node {} is not bound to a token", Printable(node, 64)));
}

}  // namespace

Result<NodeBinding> BindNode(Connection& connection, const std::string& node,
                             const std::string& token_name, std::int64_t now_us) {
  const Result<Rows> made = connection.Query(kInsertBinding, {node, token_name, now_us});
  if (!made) return made.error();
  Result<NodeBinding> binding = LoadNodeBinding(connection, node);
  if (binding) binding->made = made->affected() > 0;
  return binding;
}

Result<std::int64_t> CountNewNodes(Connection& connection, const std::string& token_name,
                                   std::int64_t since_us) {
  const Result<Rows> rows = connection.Query(kCountBindings, {token_name, since_us});
  return rows ? Result<std::int64_t>(rows->Int(0, 0)) : rows.error();
}

Result<NodeBinding> LoadNodeBinding(Connection& connection, const std::string& node) {
  const Result<Rows> rows = connection.Query(kLoad, {node});
  if (!rows) return rows.error();
  if (rows->empty()) return NotBound(node);
  return NodeBinding{node, rows->Text(0, 0), rows->Int(0, 1)};
}

Status DeleteNodeBinding(Connection& connection, const std::string& node) {
  const Result<Rows> deleted = connection.Query(kDelete, {node});
  if (!deleted) return deleted.error();
  return deleted->affected() > 0 ? Status() : Status(NotBound(node));
}

}  // namespace stepscope

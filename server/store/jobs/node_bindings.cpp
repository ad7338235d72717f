#include "server/store/jobs/node_bindings.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

// In the order of nodes: two servers may wait, but never for each other.
constexpr char kInsertBindings[] = R"(
insert into node_bindings (node, token_name, maker_kind, bound_us)
select claims.node, claims.name, claims.kind, $4
from unnest($1::text[], $2::text[], $3::text[]) as claims (node, name, kind)
order by claims.node
on conflict (node) do nothing)";
constexpr char kLoadBindings[] = R"(
select node, token_name, bound_us, maker_kind
from node_bindings
where node = any($1::text[])
order by node)";
constexpr char kCountBindings[] = R"(
select count(*)
from node_bindings
where token_name = $1 and maker_kind in ('', $2) and bound_us > $3)";
constexpr char kDelete[] = "delete from node_bindings where node = $1";

struct NodeSender {
  std::string kind, name;
};

NodeSender SenderIn(std::string_view sender) {
  for (const std::string_view beginning : {kProxySender, kCertificateSender}) {
    if (!sender.starts_with(beginning)) continue;
    return {std::string(beginning.substr(0, beginning.size() - 1)),
            std::string(sender.substr(beginning.size()))};
  }
  return {"token", std::string(sender)};
}

Error NotBound(const std::string& node) {
  return NotFound(Format("node {} is not bound to a token", Printable(node, 64)));
}

std::vector<NodeBinding> ReadBindings(const Rows& rows) {
  std::vector<NodeBinding> bindings;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    bindings.push_back({rows.Text(i, 0), rows.Text(i, 1), rows.Int(i, 2), rows.Text(i, 3)});
  }
  return bindings;
}

}  // namespace

bool NodeBinding::IsOf(std::string_view sender) const {
  const NodeSender one = SenderIn(sender);
  return one.name == token_name && (kind.empty() || one.kind == kind);
}

Result<std::vector<NodeBinding>> BindNodes(Connection& connection, std::vector<NodeClaim> claims,
                                           std::int64_t now_us) {
  std::vector<std::string> all, nodes, names, kinds;
  for (NodeClaim& claim : claims) {
    if (claim.stores) {
      NodeSender sender = SenderIn(claim.sender);
      nodes.push_back(claim.node);
      names.push_back(std::move(sender.name));
      kinds.push_back(std::move(sender.kind));
    }
    all.push_back(std::move(claim.node));
  }
  const Statement bind = {
      kInsertBindings,
      {Parameter::Array(nodes), Parameter::Array(names), Parameter::Array(kinds), now_us}};
  const Statement load = {kLoadBindings, {Parameter::Array(all)}};
  const auto rows = nodes.empty() ? connection.QueryTogether(std::vector{load})
                                  : connection.QueryTogether(std::vector{bind, load});
  if (!rows) return rows.error();
  return ReadBindings(rows->back());
}

Result<std::int64_t> CountNewNodes(Connection& connection, std::string_view sender,
                                   std::int64_t since_us) {
  const NodeSender one = SenderIn(sender);
  const Result<Rows> rows = connection.Query(kCountBindings, {one.name, one.kind, since_us});
  return rows ? Result<std::int64_t>(rows->Int(0, 0)) : rows.error();
}

Result<NodeBinding> LoadNodeBinding(Connection& connection, const std::string& node) {
  const std::vector<std::string> one = {node};
  const Result<Rows> rows = connection.Query(kLoadBindings, {Parameter::Array(one)});
  if (!rows) return rows.error();
  if (rows->empty()) return NotBound(node);
  return ReadBindings(*rows).front();
}

Status DeleteNodeBinding(Connection& connection, const std::string& node) {
  const Result<Rows> deleted = connection.Query(kDelete, {node});
  if (!deleted) return deleted.error();
  return deleted->affected() > 0 ? Status() : Status(NotBound(node));
}

}  // namespace stepscope

#include "server/access/node_owners.h"

#include "server/store/access/tokens.h"

namespace stepscope {
namespace {

constexpr std::int64_t kOwnerDayUs = 86'400'000'000;

}  // namespace

Result<NodeOwners::Claim> NodeOwners::Load(const std::string& node, const std::string& sender,
                                           bool entitled) {
  Result<Database::Lease> lease = database_.Acquire();
  if (!lease) return lease.error();
  const Result<NodeBinding> stands = LoadNodeBinding(**lease, node);
  if (stands) {
    Remember(*stands);
    return stands->IsOf(sender) ? kOwn : kForeign;
  }
  if (stands.error().code != Code::kNotFound) return stands.error();
  return LoadFree(**lease, node, sender, entitled);
}

Result<NodeOwners::Claim> NodeOwners::LoadFree(Connection& connection, const std::string& node,
                                               const std::string& sender, bool entitled) const {
  const std::int64_t now_us = ToMicros(clock_.Now());
  const Result<bool> reserved = IsNodeReserved(connection, node, now_us);
  if (!reserved) return reserved.error();
  if (*reserved && !entitled) return kReserved;
  const Result<std::int64_t> today = CountNewNodes(connection, sender, now_us - kOwnerDayUs);
  if (!today) return today.error();
  return *today < most_new_ ? kFree : kTooMany;
}

std::optional<NodeOwners::Claim> NodeOwners::Recall(const std::string& node,
                                                    const std::string& sender) const {
  const SteadyTime now = clock_.Steady();
  return known_.Read([&](const auto& known) -> std::optional<Claim> {
    const auto found = known.find(node);
    if (found == known.end() || now - found->second.put >= kFresh) return std::nullopt;
    return found->second.binding.IsOf(sender) ? kOwn : kForeign;
  });
}

// A full memory starts anew: the database still knows all owners.
void NodeOwners::Remember(const NodeBinding& binding) {
  known_.Change([&](auto& known) {
    if (known.size() >= kMost) known.clear();
    known[binding.node] = {binding, clock_.Steady()};
  });
}

void NodeOwners::Forget(const std::string& node) {
  known_.Change([&](auto& known) { known.erase(node); });
}

}  // namespace stepscope

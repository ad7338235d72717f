#include "server/access/node_owners.h"

namespace stepscope {
namespace {

constexpr std::int64_t kOwnerDayUs = 86'400'000'000;

}  // namespace

Result<NodeOwners::Claim> NodeOwners::Load(const std::string& node, const std::string& name) {
  const Result<std::string> owner = LoadOwner(node, name);
  if (!owner) return owner.error();
  if (owner->empty()) return kTooMany;
  Remember(node, *owner);
  return *owner == name ? kOwn : kForeign;
}

std::optional<NodeOwners::Claim> NodeOwners::Recall(const std::string& node,
                                                    const std::string& name) const {
  const auto owner = Remembered(node);
  if (!owner) return std::nullopt;
  return *owner == name ? kOwn : kForeign;
}

// "" when the node is new and may not become this name's.
Result<std::string> NodeOwners::LoadOwner(const std::string& node, const std::string& name) {
  Result<Database::Lease> lease = database_.Acquire();
  if (!lease) return lease.error();
  const Result<NodeBinding> stands = LoadNodeBinding(**lease, node);
  if (stands) return stands->token_name;
  if (stands.error().code != Code::kNotFound) return stands.error();
  const std::int64_t now_us = ToMicros(clock_.Now());
  const Result<std::int64_t> today = CountNewNodes(**lease, name, now_us - kOwnerDayUs);
  if (!today) return today.error();
  if (*today >= most_new_) return std::string();
  const Result<NodeBinding> bound = BindNode(**lease, node, name, now_us);
  return bound ? Result<std::string>(bound->token_name) : bound.error();
}

std::optional<std::string> NodeOwners::Remembered(const std::string& node) const {
  const SteadyTime now = clock_.Steady();
  return known_.Read([&](const auto& known) -> std::optional<std::string> {
    const auto found = known.find(node);
    if (found == known.end() || now - found->second.put >= kFresh) return std::nullopt;
    return found->second.owner;
  });
}

// A full memory starts anew: the database still knows all owners.
void NodeOwners::Remember(const std::string& node, const std::string& owner) {
  known_.Change([&](auto& known) {
    if (known.size() >= kMost) known.clear();
    known[node] = {owner, clock_.Steady()};
  });
}

void NodeOwners::Forget(const std::string& node) {
  known_.Change([&](auto& known) { known.erase(node); });
}

}  // namespace stepscope

#include "server/ingest/bound_nodes.h"

namespace stepscope {

// A clock that was set back makes an entry old as well.
bool BoundNodes::IsOf(const std::string& node, const std::string& sender,
                      std::int64_t now_us) const {
  return entries_.Read([&](const auto& entries) {
    const auto found = entries.find(node);
    if (found == entries.end() || found->second.sender != sender) return false;
    const std::int64_t age_us = now_us - found->second.put_us;
    return age_us >= 0 && age_us < kFreshUs;
  });
}

// A full memory starts anew: the database knows all.
void BoundNodes::Put(const std::string& node, const std::string& sender, std::int64_t now_us) {
  entries_.Change([&](auto& entries) {
    if (entries.size() >= kMostNodes) entries.clear();
    entries[node] = {sender, now_us};
  });
}

}  // namespace stepscope

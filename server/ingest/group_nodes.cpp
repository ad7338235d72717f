#include "server/ingest/group_nodes.h"

namespace stepscope {
namespace {

// Spans may still be refused for their window, and never come first.
bool IsStored(const CheckedFrame& frame) {
  const auto* table = std::get_if<TableFrame>(&frame.content);
  if (table) return table->kind != FrameKind::kSpans;
  return std::holds_alternative<Lifecycle>(frame.content);
}

// Whether something of the item is kept: not when all of it was stored before or is refused. Of
// items of one stream the first is the one that stores.
bool StoresFrame(const GroupItem& item, const Stream& stream) {
  std::uint64_t cursor = stream.cursor;
  for (std::size_t i = item.from; i < item.to; ++i) {
    const CheckedFrame& frame = item.push->frames[i];
    if (item.push->numbered && frame.sequence > cursor + 1) return false;
    if (item.push->numbered && frame.last <= cursor) continue;
    if (IsOfAnotherJob(frame, stream.key.job_id)) return false;
    if (IsStored(frame)) return true;
    cursor = frame.last;
  }
  return false;
}

}  // namespace

bool IsOfAnotherJob(const CheckedFrame& frame, std::int64_t job_id) {
  const auto* table = std::get_if<TableFrame>(&frame.content);
  return table && !table->schema && table->schema_job_id != job_id;
}

NodeHolders::NodeHolders(std::vector<NodeBinding> bindings) {
  for (NodeBinding& binding : bindings) holders_.emplace(binding.node, std::move(binding));
}

bool NodeHolders::IsForeign(const CheckedPush& push) const {
  if (push.sender.empty()) return false;
  const auto holder = holders_.find(push.node);
  return holder != holders_.end() && !holder->second.IsOf(push.sender);
}

void NodeHolders::Remember(const std::vector<GroupItem>& items, BoundNodes& bound,
                           std::int64_t now_us) const {
  for (const GroupItem& item : items) {
    const CheckedPush& push = *item.push;
    if (holders_.contains(push.node) && !IsForeign(push)) bound.Put(push.node, push.sender, now_us);
  }
}

Result<NodeHolders> HoldNodes(Connection& connection, const std::map<std::string, JobRow>& jobs,
                              const Streams& streams, const std::vector<GroupItem>& items,
                              const BoundNodes& bound, std::int64_t now_us) {
  std::vector<NodeClaim> claims;
  for (const GroupItem& item : items) {
    const CheckedPush& push = *item.push;
    const auto job = jobs.find(push.job);
    if (push.sender.empty() || job == jobs.end()) continue;
    if (bound.IsOf(push.node, push.sender, now_us)) continue;
    const auto stream = streams.find({job->second.job_id, push.session});
    const bool known = stream != streams.end() && stream->second.known;
    claims.push_back({push.node, push.sender, known && StoresFrame(item, stream->second)});
  }
  if (claims.empty()) return NodeHolders();
  auto bindings = BindNodes(connection, std::move(claims), now_us);
  return bindings ? Result<NodeHolders>(NodeHolders(std::move(*bindings))) : bindings.error();
}

}  // namespace stepscope

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/ingest/bound_nodes.h"
#include "server/ingest/group_streams.h"
#include "server/store/jobs/node_bindings.h"

namespace stepscope {

// The senders that the nodes of a group belong to, as far as memory did not know them.
class NodeHolders {
 public:
  NodeHolders() = default;
  explicit NodeHolders(std::vector<NodeBinding> bindings);

  // Whether the push's node belongs to another sender than the push.
  bool IsForeign(const CheckedPush& push) const;
  // To be called when the group is committed.
  void Remember(const std::vector<GroupItem>& items, BoundNodes& bound, std::int64_t now_us) const;

 private:
  std::map<std::string, NodeBinding> holders_;  // by node
};

// Binds the nodes that nobody has, and of which an item stores the first frame, to that item's
// sender. Call it when the streams are locked: whoever waits for a node then waits for nothing else
// that another such transaction has.
Result<NodeHolders> HoldNodes(Connection& connection, const std::map<std::string, JobRow>& jobs,
                              const Streams& streams, const std::vector<GroupItem>& items,
                              const BoundNodes& bound, std::int64_t now_us);

// The job was deleted, and another has its name: a schema of the old job is not used for it.
// Another server may have told the agent so, and this one does not know.
bool IsOfAnotherJob(const CheckedFrame& frame, std::int64_t job_id);

}  // namespace stepscope

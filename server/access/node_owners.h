#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "server/store/jobs/node_bindings.h"

namespace stepscope {

// The owners of nodes: a node belongs to the sender of the first frame of it that is stored, until
// an admin clears that; whoever stores it binds the node. A sender is the name of a token, which
// rotation keeps. Owners are remembered for 30 s, so that not every push asks the database.
// Bounded. Safe from any thread.
class NodeOwners {
 public:
  static constexpr Duration kFresh = 30s;
  static constexpr std::size_t kMost = 20'000;

  enum Claim {
    kOwn,
    kFree,      // nobody has it yet
    kForeign,   // it belongs to another sender
    kReserved,  // nobody has it, and a token was made for it by its name
    kTooMany,   // it is new, and this sender has had its new nodes of today
  };
  NodeOwners(Database& database, const Clock& clock, std::int64_t most_new)
      : database_(database), clock_(clock), most_new_(most_new) {}

  // From memory alone; nothing when the database has to be asked.
  std::optional<Claim> Recall(const std::string& node, const std::string& sender) const;
  // From the database; an error when it does not answer. `entitled`: the sender may have a node
  // that is reserved.
  Result<Claim> Load(const std::string& node, const std::string& sender, bool entitled);

  // To be called after a binding was deleted: here at once, in other replicas within 30 s.
  void Forget(const std::string& node);

 private:
  struct Entry {
    NodeBinding binding;
    SteadyTime put{};
  };
  Result<Claim> LoadFree(Connection& connection, const std::string& node, const std::string& sender,
                         bool entitled) const;
  void Remember(const NodeBinding& binding);

  Database& database_;
  const Clock& clock_;
  const std::int64_t most_new_;
  Guarded<std::map<std::string, Entry>> known_;
};

}  // namespace stepscope

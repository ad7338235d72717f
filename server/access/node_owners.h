#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "server/store/jobs/node_bindings.h"

namespace stepscope {

// The owners of nodes: a node belongs to the name that first sends its data, until an admin clears
// that. A name is a token's, and rotation keeps it. Answers of the database are remembered for 30
// s, so that not every push asks it. Bounded. Safe from any thread.
class NodeOwners {
 public:
  static constexpr Duration kFresh = 30s;
  static constexpr std::size_t kMost = 20'000;

  enum Claim {
    kOwn,
    kForeign,  // it belongs to another name
    kTooMany,  // it is new, and this name has had its new nodes of today
  };
  NodeOwners(Database& database, const Clock& clock, std::int64_t most_new)
      : database_(database), clock_(clock), most_new_(most_new) {}

  // From memory alone; nothing when the database has to be asked.
  std::optional<Claim> Recall(const std::string& node, const std::string& name) const;
  // From the database: a node that nobody has is this name's from now on. An error when it does not
  // answer.
  Result<Claim> Load(const std::string& node, const std::string& name);

  // To be called after a binding was deleted: here at once, in other replicas within 30 s.
  void Forget(const std::string& node);

 private:
  struct Entry {
    std::string owner;
    SteadyTime put{};
  };
  std::optional<std::string> Remembered(const std::string& node) const;
  Result<std::string> LoadOwner(const std::string& node, const std::string& name);
  void Remember(const std::string& node, const std::string& owner);

  Database& database_;
  const Clock& clock_;
  const std::int64_t most_new_;
  Guarded<std::map<std::string, Entry>> known_;
};

}  // namespace stepscope

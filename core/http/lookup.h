#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/guarded.h"
#include "core/base/result.h"
#include "core/base/wait.h"

namespace stepscope {

// Returns all numeric addresses of a host's name: the system's resolver, or a test's.
using Resolver = std::function<Result<std::vector<std::string>>(const std::string& host)>;

// Asks the system's resolver, however long it takes. Unavailable when the name has no address.
Result<std::vector<std::string>> ResolveHost(const std::string& host);

// Looks names up within the caller's time. The system's resolver knows no deadline and nobody can
// interrupt it, so each lookup has a thread of its own, which is left behind when the time is over:
// at most `kMostLookups` at once, and one for each name. What comes too late waits for whoever asks
// next, so that a slow resolver is only slow. (getaddrinfo_a does not serve: a lookup that runs
// cannot be cancelled there either, and nothing says when its memory may go.)
//
// Safe from any thread. The resolver may be called after this is gone.
class NameLookup {
 public:
  static constexpr std::size_t kMostLookups = 8;

  explicit NameLookup(Resolver resolve = ResolveHost) : resolve_(std::move(resolve)) {}

  // A numeric host is its own address. Unavailable when the name is not found, not in time, or too
  // many lookups hang.
  Result<std::vector<std::string>> Find(const std::string& host, const WaitLimit& limit);

 private:
  struct Lookup;
  using Lookups = std::map<std::string, std::shared_ptr<Lookup>>;

  Result<std::shared_ptr<Lookup>> Join(const std::string& host);

  const Resolver resolve_;
  Guarded<Lookups> lookups_;  // lookups whose answer nobody has taken yet
};

}  // namespace stepscope

#include "core/http/lookup.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>

#include "core/base/clock.h"
#include "core/base/detached_thread.h"
#include "core/base/event.h"
#include "core/base/text.h"
#include "core/http/url.h"

namespace stepscope {
namespace {

// How long a late answer can be used by the next caller.
constexpr Duration kFresh = 30s;

using Addresses = std::vector<std::string>;

}  // namespace

// A lookup in progress, shared by its thread and its callers; the last one frees it.
struct NameLookup::Lookup {
  struct Outcome {
    std::optional<Result<Addresses>> answer;
    SteadyTime at{};
  };

  void Finish(Result<Addresses> answer) {
    const SteadyTime now = SystemClock().Steady();
    outcome.Change([&](Outcome& value) { value = {std::move(answer), now}; });
    done.Set();
  }
  bool Running() const {
    return outcome.Read([](const Outcome& value) { return !value.answer; });
  }
  bool Stale() const {
    const SteadyTime now = SystemClock().Steady();
    return outcome.Read(
        [&](const Outcome& value) { return value.answer && now - value.at > kFresh; });
  }

  Guarded<Outcome> outcome;
  Event done;  // set when there is an answer
};

Result<Addresses> ResolveHost(const std::string& host) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int failed = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (failed != 0) {
    return Unavailable(Format("host '{}' not found: {}", Printable(host), gai_strerror(failed)));
  }
  Addresses addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    char text[NI_MAXHOST];
    const int named =
        getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
    if (named == 0) addresses.emplace_back(text);
  }
  freeaddrinfo(found);
  return addresses;
}

Result<std::shared_ptr<NameLookup::Lookup>> NameLookup::Join(const std::string& host) {
  return lookups_.Change([&](Lookups& lookups) -> Result<std::shared_ptr<Lookup>> {
    std::erase_if(lookups, [](const auto& entry) { return entry.second->Stale(); });
    if (const auto found = lookups.find(host); found != lookups.end()) return found->second;
    const auto running =
        std::ranges::count_if(lookups, [](const auto& entry) { return entry.second->Running(); });
    if (static_cast<std::size_t>(running) >= kMostLookups) {
      return Unavailable(
          Format("host '{}' not found: {} lookups hang already", Printable(host), kMostLookups));
    }
    auto lookup = std::make_shared<Lookup>();
    if (!lookup->done) return Unavailable("looking up a name: no event descriptor");
    const bool started = StartDetachedThread(
        "lookup", [lookup, host, resolve = resolve_] { lookup->Finish(resolve(host)); });
    if (!started) return Unavailable("looking up a name: no thread");
    return lookups.emplace(host, lookup).first->second;
  });
}

Result<Addresses> NameLookup::Find(const std::string& host, const WaitLimit& limit) {
  if (IsNumericHost(host)) return Addresses{host};
  const auto lookup = Join(host);
  if (!lookup) return lookup.error();
  const auto ready = WaitFor((*lookup)->done.descriptor(), POLLIN, limit);
  if (!ready) {
    return Unavailable(Format("host '{}' not found: {}", Printable(host), ready.error().message));
  }
  lookups_.Change([&](Lookups& lookups) {
    const auto found = lookups.find(host);
    if (found != lookups.end() && found->second == *lookup) lookups.erase(found);
  });
  auto answer = (*lookup)->outcome.Read([](const Lookup::Outcome& value) { return *value.answer; });
  if (answer && answer->empty()) {
    return Unavailable(Format("host '{}' has no address", Printable(host)));
  }
  return answer;
}

}  // namespace stepscope

#pragma once

#include <sys/epoll.h>

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/clock.h"
#include "server/edge/addresses.h"
#include "server/edge/connection.h"
#include "server/edge/listener.h"
#include "server/edge/mailbox.h"
#include "server/edge/tls.h"

namespace stepscope {

// The parts of the edge that its loop needs.
struct LoopParts {
  const EdgeOptions& options;
  const EdgeHandlers& handlers;
  const std::atomic<bool>& stopping;
  EdgeCounters& counters;
  ByteBudget& bodies;
  ByteBudget& answers;
  Workers& workers;
  Mailbox& mailbox;
  const Guarded<std::shared_ptr<const TlsContext>>& tls;  // null: without TLS
};

// The thread of the edge: accepts, and gives each connection its turns. It waits only for all
// connections together.
class Loop {
 public:
  explicit Loop(const LoopParts& parts);

  // Serves until the edge stops and nothing is under way any more, or until it is cut.
  void Run();

 private:
  struct Entry {
    std::unique_ptr<EdgeConnection> connection;
    std::uint32_t interest = 0;  // events that epoll watches
    std::string address;         // the address that it counts for; "" for none
  };
  using Entries = std::unordered_map<std::uint64_t, Entry>;

  // Ids of epoll: the mailbox, then listeners by their place, then connections.
  static constexpr std::uint64_t kMailboxId = 0, kFirstListener = 1, kFirstConnection = 1'000;

  static Descriptor OpenReserve();
  void Wait();
  int WaitTime() const;  // in ms
  void OnEvent(const epoll_event& event);
  void ReadMail();
  bool AcceptFrom(const Listener& listener);
  void Add(Accepted accepted, const Listener& listener);
  std::unique_ptr<Transport> TransportFor(int socket, const Listener& listener);
  void TurnAway(Accepted accepted, const Listener& listener);
  const Deadlines* LeastDeserving() const;
  bool MakeRoom();
  bool Shed(const Listener& listener);
  void Pause(bool pause);
  void OnConnection(std::uint64_t id, std::uint32_t events);
  void RunReady();
  void Expire();
  void StopAll();
  void StopIdle();
  void UpdateInterest(Entries::iterator entry, std::uint32_t in_vain = 0);

  const LoopParts parts_;
  const SystemClock clock_;
  EdgeCore core_;
  Addresses addresses_;
  SocketCloser closer_;
  Descriptor epoll_;
  Descriptor
      reserve_;  // closed for a moment to turn a connection away when descriptors are used up
  std::vector<Listener> listeners_;
  Entries entries_;
  std::vector<std::uint64_t> ready_;  // connections that can go on at once
  std::uint64_t next_id_;
  std::optional<SteadyTime> paused_until_;  // until when nothing is accepted
  bool stopped_ = false, cut_ = false;
};

}  // namespace stepscope

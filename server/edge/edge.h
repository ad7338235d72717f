#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>

#include "core/base/guarded.h"
#include "core/base/worker.h"
#include "server/edge/address.h"
#include "server/edge/budget.h"
#include "server/edge/figures.h"
#include "server/edge/handlers.h"
#include "server/edge/listener.h"
#include "server/edge/loop.h"
#include "server/edge/options.h"
#include "server/edge/tls.h"

namespace stepscope {

// The HTTP/1.1 server: listens, with TLS or without, and gives the handlers requests that are
// complete, within bounds of time and size, and can be understood in one way only. One thread moves
// all bytes; the handlers run on workers, but for those that never wait. All functions are safe
// from any thread; only one may call Stop.
class Edge {
 public:
  Edge(EdgeOptions options, EdgeHandlers handlers);
  ~Edge() { Stop(Duration::zero()); }
  Edge(const Edge&) = delete;
  Edge& operator=(const Edge&) = delete;

  // From now on accepted connections speak TLS, but for those of unix sockets. Errors name the
  // file, and everything stays as it was.
  Status UseTls(const EdgeTlsFiles& files);
  Status ReloadTls();  // reads the files again

  // Serves until Stop; may be called for several addresses.
  Status Listen(const ListenAddress& address);
  void Listen(Listener listener);
  int port() const { return port_; }  // the port of the first address that has one

  // Accepts no more and closes what is idle. Requests whose heads are complete are answered within
  // the grace; then, or when `hurry` is asked for, their connections are cut. Returns when no
  // handler runs any more; replies that come later still are dropped.
  void Stop(Duration grace, std::stop_token hurry = {});

  EdgeFigures figures() const;

 private:
  LoopParts Parts();

  const EdgeOptions options_;
  const EdgeHandlers handlers_;
  // Shared with replies that come later.
  const std::shared_ptr<std::atomic<bool>> stopping_ = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  std::atomic<int> port_{0};
  EdgeCounters counters_;
  ByteBudget bodies_, answers_;
  Guarded<std::shared_ptr<const TlsContext>> tls_;
  Guarded<EdgeTlsFiles> tls_files_;
  Guarded<bool> ended_;
  Workers workers_;
  Worker thread_;
};

}  // namespace stepscope

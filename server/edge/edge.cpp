#include "server/edge/edge.h"

#include <sys/resource.h>

#include <algorithm>

namespace stepscope {
namespace {

constexpr std::size_t kOtherDescriptors = 128;  // for the database and for files

// Never more connections than there are descriptors: the database needs some as well.
EdgeOptions WithinDescriptors(EdgeOptions options) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return options;
  const std::size_t most =
      std::max<std::size_t>(limit.rlim_cur, 2 * kOtherDescriptors) - kOtherDescriptors;
  options.most_connections = std::min(options.most_connections, most);
  return options;
}

}  // namespace

Edge::Edge(EdgeOptions options, EdgeHandlers handlers)
    : options_(WithinDescriptors(options)),
      handlers_(std::move(handlers)),
      bodies_(options.most_body_bytes),
      answers_(options.most_answer_bytes),
      workers_(
          options.workers, options.most_queued, handlers_, stopping_,
          [mailbox = mailbox_](Done done) {
            mailbox->Post([&](Mail& mail) { mail.done.push_back(std::move(done)); });
          },
          options_),
      thread_("edge", [this](const std::stop_token&) {
        Loop(Parts()).Run();
        ended_.Change([](bool& ended) { ended = true; });
      }) {}

LoopParts Edge::Parts() {
  return {.options = options_,
          .handlers = handlers_,
          .stopping = *stopping_,
          .counters = counters_,
          .bodies = bodies_,
          .answers = answers_,
          .workers = workers_,
          .mailbox = *mailbox_,
          .tls = tls_};
}

Status Edge::UseTls(const EdgeTlsFiles& files) {
  Result<std::shared_ptr<const TlsContext>> context = TlsContext::Load(files);
  if (!context) return context.error();
  tls_files_.Change([&](EdgeTlsFiles& kept) { kept = files; });
  tls_.Change([&](auto& kept) { kept = std::move(*context); });
  return {};
}

Status Edge::ReloadTls() {
  const EdgeTlsFiles files = tls_files_.Read([](const EdgeTlsFiles& kept) { return kept; });
  return files.certificate.empty() ? Status() : UseTls(files);
}

Status Edge::Listen(const ListenAddress& address) {
  Result<Listener> listener = Listener::Open(address);
  if (!listener) return listener.error();
  Listen(std::move(*listener));
  return {};
}

void Edge::Listen(Listener listener) {
  int none = 0;
  port_.compare_exchange_strong(none, listener.port());
  mailbox_->Post([&](Mail& mail) { mail.listeners.push_back(std::move(listener)); });
}

void Edge::Stop(Duration grace, std::stop_token hurry) {
  *stopping_ = true;
  mailbox_->Post([](Mail&) {});
  if (!ended_.Wait(std::move(hurry), grace, [](bool ended) { return ended; })) {
    mailbox_->Post([](Mail& mail) { mail.cut = true; });
  }
  thread_.Join();
  workers_.Stop();
  mailbox_->Take();  // listeners that came too late close their sockets
}

EdgeFigures Edge::figures() const {
  EdgeFigures figures;
  for (std::size_t at = 0; at < kConnectionStates; ++at) {
    figures.connections[at] = counters_.connections[at];
    figures.timeouts[at] = counters_.timeouts[at];
  }
  figures.accepted = counters_.accepted;
  figures.accept_failures = counters_.accept_failures;
  figures.shed = counters_.shed;
  figures.requests = counters_.requests;
  figures.refused = counters_.refused;
  figures.busy = counters_.busy;
  figures.queued = workers_.queued();
  figures.body_bytes = bodies_.used();
  figures.answer_bytes = answers_.used();
  figures.handshakes = counters_.handshakes;
  figures.handshake_failures = counters_.handshake_failures;
  return figures;
}

}  // namespace stepscope

#include "server/edge/http_server.h"

#include <algorithm>

#include "server/edge/http_core.h"

namespace stepscope {
namespace {

SteadyTime Now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

HttpServer::HttpServer(HttpOptions options, EdgeHandlers handlers)
    : options_(options), handlers_(std::move(handlers)) {}

Status HttpServer::Listen(const std::string& host, int port) {
  Result<Socket> listener = ListenOn(host, port);
  if (!listener) return listener.error();
  Listen(std::move(*listener));
  return {};
}

void HttpServer::Listen(Socket listener) {
  listener_ = std::make_unique<Socket>(std::move(listener));
  port_ = LocalPort(*listener_);
  pool_ = std::make_unique<ConnectionPool>(options_.threads, options_.most_waiting,
                                           [this](Socket socket) { Serve(std::move(socket)); });
  acceptor_ = Worker("accept", [this](std::stop_token stop) { Accept(stop); });
}

void HttpServer::Accept(std::stop_token stop) {
  while (!stop.stop_requested()) {
    Result<Socket> socket = AcceptFrom(*listener_);
    if (socket) {
      pool_->Add(std::move(*socket));
    } else if (listener_->WaitReadable(Now())) {
      SleepFor(stop, 50ms);  // accept() failed: out of descriptors, most likely
    }
  }
}

// Polled in short pieces, so that idle ones make room soon.
bool HttpServer::WaitForRequest(const Socket& socket) const {
  const SteadyTime until = Now() + options_.idle_within;
  while (!stopping_ && Now() < until) {
    if (socket.WaitReadable(std::min(until, Now() + 100ms))) return true;
    if (pool_->waiting() > 0) return false;
  }
  return false;
}

void HttpServer::Serve(Socket socket) {
  open_.Change([&](auto& open) { open.insert(&socket); });
  HttpCore core(handlers_, socket, options_);
  bool more = true;
  for (int count = 1; more; ++count) {
    more = core.buffered() || WaitForRequest(socket);
    if (!more) break;
    const bool last = stopping_ || count >= options_.requests_per_connection;
    more = core.Exchange(last);
    if (!more) socket.Drain(Now() + 1s);
  }
  open_.Change([&](auto& open) { open.erase(&socket); });
}

void HttpServer::Stop(Duration grace, std::stop_token hurry) {
  if (!pool_) return;
  stopping_ = true;
  acceptor_.RequestStop();
  listener_->ShutDown();
  acceptor_.Join();
  listener_.reset();
  open_.Wait(std::move(hurry), grace, [](const auto& open) { return open.empty(); });
  open_.Change([](auto& open) {
    for (const Socket* socket : open) socket->ShutDown();
  });
  pool_.reset();
}

std::size_t HttpServer::connections() const {
  return open_.Read([](const auto& open) { return open.size(); });
}

}  // namespace stepscope

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "server/access/access.h"
#include "server/edge/handlers.h"
#include "server/front/gate.h"
#include "server/front/proxy.h"
#include "server/front/route_table.h"

namespace stepscope {

struct HttpFigures {
  std::array<std::uint64_t, 6> answers{};  // by first digit of the status
  std::uint64_t answered_us = 0;           // time in handlers, summed
  std::uint64_t body_bytes = 0;            // bytes of bodies received
};

// The counters behind HttpFigures; shared with replies that are still to come.
class HttpCounters {
 public:
  void Count(const Request& head, std::size_t body_bytes, const Reply& reply, Duration took);
  HttpFigures figures() const;

 private:
  std::array<std::atomic<std::uint64_t>, 6> answers_{};
  std::atomic<std::uint64_t> answered_us_{0}, body_bytes_{0};
};

struct FrontSettings {
  HostNames hosts;
  ProxyTrust proxies = {};
  PressureGauge* pressure = nullptr;  // none: nobody is refused for it
};

// Makes complete answers of checked requests: gate, route, access, handler, and the headers of
// every answer. An exception of a handler becomes a 500 here. Safe from any thread.
class Front {
 public:
  using Handler = std::function<Reply(const Request&)>;

  // `fallback` answers GET and HEAD where no route stands, to everyone. Replies that come when this
  // is gone still ask the clock.
  Front(std::vector<Route> routes, Handler fallback, FrontSettings settings, Access& access,
        const Clock& clock);

  // The functions for the edge. They refer to this object.
  EdgeHandlers Handlers();

  // Refuses when the head alone is reason to; the body is then not read. Never waits.
  HeadVerdict CheckHead(Request& head);
  // After CheckHead said kAsk: may wait for the database.
  HeadVerdict Ask(Request& head);

  // Only for requests that were not refused. `respond` is called before this returns or, where the
  // route says so, when the reply is there. False, and the request is as it was, where it may not
  // wait and the route would have to.
  bool Answer(Request& request, const Respond& respond, MayWait may_wait);

  // An answer to something that could not be read as a request.
  Reply AnswerFault(const Request& request, std::string code, std::string detail);

  HttpFigures figures() const { return counters_->figures(); }

 private:
  HeadVerdict Judge(Request& head, MayWait may_wait);
  HeadVerdict Refuse(const Request& head, Reply refusal);
  Reply Call(const Match& match, const Request& request) const;
  bool AnswerLater(const Route& route, Request& request, const Respond& respond, MayWait may_wait);

  const RouteTable routes_;
  const Handler fallback_;
  const FrontSettings settings_;
  Access& access_;
  const Clock& clock_;
  const std::shared_ptr<HttpCounters> counters_ = std::make_shared<HttpCounters>();
};

}  // namespace stepscope

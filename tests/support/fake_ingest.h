#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/wire/frame.h"
#include "core/wire/push_answer.h"
#include "tests/support/scripted_server.h"

namespace stepscope::test {

// A service over real HTTP that accepts every frame, keeps one cursor for each session, and
// remembers the frames. For tests of the agent.
class FakeIngest {
 public:
  // Over TLS when there is a context for it.
  explicit FakeIngest(SSL_CTX* tls = nullptr)
      : tls_(tls), server_([this](Peer& peer) {
          if (tls_ == nullptr || peer.StartTls(tls_)) Serve(peer);
        }) {}

  std::string url() const {
    return Format("{}://127.0.0.1:{}", tls_ != nullptr ? "https" : "http", server_.port());
  }
  // From now on only pushes with this token are accepted.
  void Demand(std::string token) {
    std::lock_guard lock(mutex_);
    token_ = std::move(token);
  }
  // From now on each answer has this command, as a service's does until the agent has answered it.
  void Ask(const ServiceCommand& command) {
    std::lock_guard lock(mutex_);
    commands_ = {command};
  }
  // From now on a job of this name has ended.
  void End(std::string job) {
    std::lock_guard lock(mutex_);
    ended_.insert(std::move(job));
  }
  int connections() const { return server_.connections(); }

  std::vector<Frame> frames() const {
    std::lock_guard lock(mutex_);
    return frames_;
  }

  // Payloads of lifecycle frames that contain `text`.
  std::vector<std::string> Events(std::string_view text) const {
    std::vector<std::string> events;
    for (const Frame& frame : frames()) {
      if (frame.head.kind == FrameKind::kLifecycle &&
          frame.payload.find(text) != std::string::npos) {
        events.push_back(frame.payload);
      }
    }
    return events;
  }

 private:
  void Serve(Peer& peer) {
    while (const auto request = peer.Read()) {
      if (!Knows(request->head)) {
        peer.Reply(401, R"({"code":"unauthorized","detail":"the token is not valid"})");
        continue;
      }
      if (request->head.starts_with("GET ")) {
        const bool ended = HasEnded(request->head);
        peer.Reply(ended ? 200 : 404, ended ? R"({"status":"Completed"})" : "{}");
        continue;
      }
      const auto split = SplitPush(request->body);
      if (!split) {
        peer.Reply(400, R"({"code":"bad-frame","detail":"not a push"})");
        continue;
      }
      std::lock_guard lock(mutex_);
      std::uint64_t cursor = 0;
      for (const std::string_view bytes : *split) {
        if (auto frame = DecodeFrame(bytes)) cursor = Take(*frame);
      }
      peer.Reply(200, EncodePushAnswer({cursor, cursor + 1, {}, SystemClock().Now(), commands_}));
    }
  }

  bool Knows(std::string_view head) const {
    std::lock_guard lock(mutex_);
    return token_.empty() || head.find("\r\nAuthorization: Bearer " + token_ + "\r\n") != head.npos;
  }

  bool HasEnded(std::string_view head) const {
    std::lock_guard lock(mutex_);
    return std::ranges::any_of(ended_, [&](const std::string& job) {
      return head.starts_with(Format("GET /api/v1/jobs/{} ", job));
    });
  }

  std::uint64_t Take(const Frame& frame) {
    std::uint64_t& cursor = cursors_[frame.head.session];
    if (frame.head.sequence == cursor + 1) {
      cursor = frame.head.sequence;
      frames_.push_back(frame);
    }
    return cursor;
  }

  mutable std::mutex mutex_;
  std::vector<Frame> frames_;
  std::map<Session, std::uint64_t> cursors_;
  std::string token_;
  std::set<std::string> ended_;
  std::vector<ServiceCommand> commands_;
  SSL_CTX* const tls_;
  ScriptedServer server_;
};

}  // namespace stepscope::test

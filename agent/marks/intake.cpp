#include "agent/marks/intake.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <stop_token>
#include <utility>

#include "agent/marks/closer.h"
#include "agent/marks/marks_registry.h"
#include "agent/marks/marks_socket.h"
#include "core/base/descriptor.h"
#include "core/base/guarded.h"
#include "core/base/log.h"
#include "core/base/worker.h"

namespace stepscope {
namespace {

constexpr Duration kPauseInAFlood = 20ms;  // behind 16 connections
constexpr int kMostRounds = 32;            // of 64 sockets: as many as can be connected, twice

SocketAccess AccessOf(const IntakeOptions& options) {
  if (options.allow_other_users) return {.mode = 0666};
  return {.mode = options.group ? 0660u : 0600u, .group = options.group};
}

}  // namespace

// The listening thread, and the state that it shares with Drain.
class Intake::Server {
 public:
  Server(const IntakeOptions& options, const Clock& clock, Descriptor listener)
      : path(options.socket_path),
        access(AccessOf(options)),
        read_interval_(options.read_interval),
        listener_(std::move(listener)),
        registry_(MarkRegistry(options, clock, closer_, [this](int fd) { Unwatch(fd); })),
        user_(options.user) {}
  ~Server() {
    worker_ = Worker();
    unlink(path.c_str());
    // Closing it closes what processes have sent that were not accepted yet.
    shutdown(listener_.get(), SHUT_RDWR);
    closer_.Close(user_, std::move(listener_));
  }

  Status Start() {
    epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
    wake_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!epoll_ || !wake_ || !Watch(listener_.get()) || !Watch(wake_.get())) {
      return Unavailable(Format("marks: no epoll: {}", strerror(errno)));
    }
    worker_ = Worker("intake", [this](std::stop_token stop) { Run(stop); });
    return {};
  }

  IntakeBatch Drain(const std::string& job) {
    ServeAll();
    return registry_.Change([&](MarkRegistry& registry) { return registry.Drain(job); });
  }

  void TakeMetrics(const std::string& job, const UseMetric& use) {
    ServeAll();
    registry_.Change([&](MarkRegistry& registry) { registry.TakeMetrics(job, use); });
  }

  void TakeEvaluated(const std::string& job, const UseEvaluated& use) {
    registry_.Change([&](MarkRegistry& registry) { registry.TakeEvaluated(job, use); });
  }

  std::size_t Ask(const std::string& job, const std::string& command, const std::string& argument) {
    return registry_.Change(
        [&](MarkRegistry& registry) { return registry.Ask(job, command, argument); });
  }

  std::string KeepSpans(const std::string& job, const SpanWindow& window) {
    // Reads the marks first, so that it is known which steps have begun.
    ServeAll();
    return registry_.Change(
        [&](MarkRegistry& registry) { return registry.KeepSpans(job, window); });
  }

  std::vector<HeardJob> Jobs() const {
    return registry_.Read([](const MarkRegistry& registry) { return registry.Jobs(); });
  }

  std::uint64_t Changes() const {
    return registry_.Read([](const MarkRegistry& registry) { return registry.changes(); });
  }

  bool Forget(const std::string& job) {
    return registry_.Change([&](MarkRegistry& registry) { return registry.Forget(job); });
  }

  const std::string path;
  const SocketAccess access;

 private:
  bool Watch(int fd) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP;
    event.data.fd = fd;
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
  }

  // A socket may wait to be closed, readable all the time.
  void Unwatch(int fd) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

  void Run(std::stop_token stop) {
    const std::stop_callback wake(stop, [this] { eventfd_write(wake_.get(), 1); });
    std::array<epoll_event, 64> events;
    SteadyTime next_read{};
    while (!stop.stop_requested()) {
      const int count = epoll_wait(epoll_.get(), events.data(), events.size(), WaitMillis());
      for (const epoll_event& event : std::span(events).first(std::max(count, 0))) {
        Serve(event.data.fd);
      }
      // Rings are read at their times even if the socket is busy.
      const SteadyTime now = std::chrono::steady_clock::now();
      if (!accepting_ && now >= accepts_again_) accepting_ = Watch(listener_.get());
      if (now < next_read) continue;
      next_read = now + read_interval_;
      registry_.Change([](MarkRegistry& registry) { registry.ReadRings(); });
    }
  }

  // Waits without a limit as long as no connected process has a ring.
  int WaitMillis() const {
    const bool heard =
        registry_.Read([](const MarkRegistry& registry) { return registry.HasPeers(); });
    if (!heard && accepting_) return -1;
    Duration wait = read_interval_;
    if (!accepting_) {
      const Duration pause = accepts_again_ - std::chrono::steady_clock::now();
      wait = std::clamp<Duration>(pause, 1ms, wait);
    }
    return static_cast<int>(wait / 1ms);
  }

  void Serve(int fd) {
    if (fd == wake_.get()) {
      eventfd_t unread = 0;
      eventfd_read(wake_.get(), &unread);
      return;
    }
    if (fd != listener_.get()) {
      registry_.Change([&](MarkRegistry& registry) { registry.Serve(fd); });
      return;
    }
    if (Accept()) {
      if (registry_.Change([](MarkRegistry& registry) { return registry.TakeFlood(); })) {
        PauseAccepting(kPauseInAFlood);
      }
      return;
    }
    // No descriptor is left: epoll would report the socket again at once, so accepting waits for
    // the next reading.
    LogWarning("marks: no descriptor left to accept a process");
    PauseAccepting(read_interval_);
  }

  void PauseAccepting(Duration pause) {
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.get(), nullptr);
    accepting_ = false;
    accepts_again_ = std::chrono::steady_clock::now() + pause;
  }

  // Takes what processes have sent, without waiting, of a process too that came and went since the
  // thread last accepted. The kernel knows who has sent something: to ask each of a thousand
  // sockets at each tick of each job would take a core.
  void ServeAll() {
    Accept();
    std::array<epoll_event, 64> events;
    for (int round = 0; round < kMostRounds; ++round) {
      const int count = epoll_wait(epoll_.get(), events.data(), events.size(), 0);
      for (const epoll_event& event : std::span(events).first(std::max(count, 0))) {
        const int fd = event.data.fd;
        if (fd == wake_.get() || fd == listener_.get()) continue;
        registry_.Change([&](MarkRegistry& registry) { registry.Serve(fd); });
      }
      if (count < static_cast<int>(events.size())) return;
    }
  }

  bool Accept() {
    return registry_.Change([this](MarkRegistry& registry) {
      const auto sockets = registry.Accept(listener_);
      if (!sockets) return false;
      // Watches them before another thread drops one, and its number becomes another file's.
      for (const int socket : *sockets) Watch(socket);
      // Drain may read the messages of a process before this thread does; the thread must still
      // read its ring.
      if (!sockets->empty()) eventfd_write(wake_.get(), 1);
      return true;
    });
  }

  const Duration read_interval_;
  const Closer closer_;
  Descriptor listener_, epoll_, wake_;
  bool accepting_ = true;
  SteadyTime accepts_again_{};
  Guarded<MarkRegistry> registry_;
  const std::uint32_t user_;
  Worker worker_;
};

IntakeOptions::IntakeOptions() : user(geteuid()) {}

Intake::Intake(std::unique_ptr<Server> server) : server_(std::move(server)) {}
Intake::~Intake() = default;

Result<std::unique_ptr<Intake>> Intake::Start(const IntakeOptions& given, const Clock& clock) {
  IntakeOptions options = given;
  if (options.socket_path.empty()) {
    Result<std::string> path = DefaultSocketPath();
    if (!path) return path.error();
    options.socket_path = *path;
  }
  Result<Descriptor> listener = ListenForMarks(options.socket_path, AccessOf(options));
  if (!listener) return listener.error();
  auto server = std::make_unique<Server>(options, clock, std::move(listener).value());
  if (const Status started = server->Start(); !started) return started.error();
  return std::unique_ptr<Intake>(new Intake(std::move(server)));
}

IntakeBatch Intake::Drain(const std::string& job) {
  return server_->Drain(job);
}

void Intake::TakeMetrics(const std::string& job, const UseMetric& use) {
  server_->TakeMetrics(job, use);
}

void Intake::TakeEvaluated(const std::string& job, const UseEvaluated& use) {
  server_->TakeEvaluated(job, use);
}

std::vector<RankMetric> Intake::TakeMetrics(const std::string& job) {
  std::vector<RankMetric> metrics;
  TakeMetrics(job, [&metrics](std::int32_t rank, const std::string& metric, double value) {
    metrics.push_back({rank, metric, value});
  });
  return metrics;
}

std::size_t Intake::Ask(const std::string& job, const std::string& command,
                        const std::string& argument) {
  return server_->Ask(job, command, argument);
}

std::string Intake::KeepSpans(const std::string& job, const SpanWindow& window) {
  return server_->KeepSpans(job, window);
}

std::vector<HeardJob> Intake::Jobs() const {
  return server_->Jobs();
}

std::uint64_t Intake::Changes() const {
  return server_->Changes();
}

bool Intake::Forget(const std::string& job) {
  return server_->Forget(job);
}

SocketAccess Intake::access() const {
  return server_->access;
}

const std::string& Intake::socket_path() const {
  return server_->path;
}

}  // namespace stepscope

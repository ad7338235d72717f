#include "server/postgres/embedded_postgres.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/base/worker.h"
#include "server/postgres/ballast.h"
#include "server/postgres/postgres_folder.h"
#include "server/postgres/postgres_leftovers.h"
#include "server/postgres/postgres_roles.h"
#include "server/store/postgres/database.h"

namespace stepscope {
namespace {

constexpr Duration kReadyWithin = 60s, kWatch = 50ms;
constexpr Duration kShortestPause = 1s, kLongestPause = 30s;  // before it is started again
constexpr Duration kCheckDisk = 1s;
constexpr std::uintmax_t kLongLog = 16 * 1024 * 1024;

// Early flushing and a slow vacuum keep the disk responsive while a large job is removed:
// docs/decisions/0050-pace.md.
constexpr const char* kSettings[] = {"listen_addresses=",
                                     "port=5432",
                                     "unix_socket_permissions=0700",
                                     "fsync=on",
                                     "full_page_writes=on",
                                     "synchronous_commit=on",
                                     "jit=off",
                                     "shared_buffers=128MB",
                                     "max_connections=48",
                                     "superuser_reserved_connections=0",
                                     "max_wal_size=1GB",
                                     "backend_flush_after=256kB",
                                     "autovacuum_vacuum_cost_delay=10ms",
                                     "restart_after_crash=on",
                                     "data_sync_retry=off",
                                     "log_min_messages=warning",
                                     "logging_collector=off",
                                     "timezone=UTC",
                                     "log_timezone=UTC",
                                     "idle_in_transaction_session_timeout=10s",
                                     "dynamic_shared_memory_type=posix"};

// Escapes a path as a value in a URL.
std::string UrlEncoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    out += plain ? std::string(1, c) : "%" + ToHex({&c, 1});
  }
  return out;
}

std::string UrlOf(const std::string& socket_dir, std::string_view database, std::string_view role) {
  return Format("postgresql:///{}?host={}&port=5432&user={}", database, UrlEncoded(socket_dir),
                role);
}

// A log that has grown too long is renamed over the previous one.
void TurnLog(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > kLongLog) std::filesystem::rename(path, path + ".1", error);
}

}  // namespace

struct EmbeddedPostgres::Life {
  PostgresFolder folder;
  std::vector<std::string> settings;
  std::optional<std::uint64_t> ballast_bytes;
  Duration stops_within, quits_within;
  std::uintmax_t log_read = 0;  // bytes of the log that were searched
  bool ballast_missed = false;  // and that was logged
  bool was_ready = false;       // the running server, or the last one
  struct State {
    pid_t child = 0;
    bool failed = false;
    std::string why;
  };
  Guarded<State> state;
  Worker worker;  // last: its thread uses the members above

  Life(PostgresFolder owned, const EmbeddedPostgresOptions& options)
      : folder(std::move(owned)),
        settings(options.settings),
        ballast_bytes(options.ballast_bytes),
        stops_within(options.stops_within),
        quits_within(options.quits_within) {}

  std::string Url(std::string_view role, std::string_view database) const {
    return UrlOf(folder.socket_dir(), database, role);
  }
  Result<std::unique_ptr<Connection>> Open(const char* role, const char* database) const {
    return Connection::Open(Url(role, database));
  }

  Result<pid_t> StartServer();
  void ShutDown(pid_t child) const;
  bool MakeRoom();
  void LookAtDisk();
  void Ended(const std::string& exit);
  bool Watch(std::stop_token stop, pid_t child);
  void Run(std::stop_token stop);
  Status AwaitReady() const;
};

Result<pid_t> EmbeddedPostgres::Life::StartServer() {
  const Result<std::string> take_over = ClearLeftovers(folder);
  if (!take_over) return take_over.error();
  TurnLog(folder.log_path());
  (void)folder.OutOfRoom(log_read = 0);
  ProgramCall call;
  call.arguments = {folder.programs().folder + "/postgres", "-D", folder.cluster()};
  const auto set = [&](std::string setting) {
    call.arguments.push_back("-c");
    call.arguments.push_back(std::move(setting));
  };
  for (const char* setting : kSettings) set(setting);
  set("unix_socket_directories=" + folder.socket_dir());
  set("hba_file=" + folder.hba_path());
  set("ident_file=" + folder.ident_path());
  for (const std::string& setting : settings) set(setting);
  call.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
  if (!take_over->empty()) call.environment.push_back(*take_over);
  call.log_path = folder.log_path();
  call.user = folder.user();
  call.ends_with_us = true;
  return StartProgram(call);
}

void EmbeddedPostgres::Life::ShutDown(pid_t child) const {
  kill(child, SIGINT);
  if (AwaitEnd(child, stops_within, nullptr)) return;
  LogWarning("postgres does not end; quitting it");
  kill(child, SIGQUIT);
  if (AwaitEnd(child, quits_within, nullptr)) return;
  kill(-child, SIGKILL);
  (void)AwaitEnd(child, 10s, nullptr);
}

// Frees the ballast if PostgreSQL ended, or restarted its processes, for want of room. Its log may
// have found no room either.
bool EmbeddedPostgres::Life::MakeRoom() {
  const std::string line = folder.OutOfRoom(log_read);
  return line.empty() ? false : SpendBallast(folder.root(), line);
}

void EmbeddedPostgres::Life::LookAtDisk() {
  if (MakeRoom() || !ballast_bytes) return;
  const Status kept = KeepBallast(folder.root(), *ballast_bytes);
  if (!kept && !ballast_missed) LogWarning("{}", kept.error().message);
  ballast_missed = !kept;
}

// The start has not failed for good if there is room now that was missing.
void EmbeddedPostgres::Life::Ended(const std::string& exit) {
  const std::string why = Format("postgres ended ({}): {}", exit, folder.LastLogLines());
  LogError("{}", why);
  const bool has_room = MakeRoom() || SpendBallastWhenFull(folder.root());
  state.Change([&](State& now) { now = {0, !has_room, why}; });
}

// Waits until the server ends or the stop is requested; false then.
bool EmbeddedPostgres::Life::Watch(std::stop_token stop, pid_t child) {
  std::string exit;
  SteadyTime checked{};
  while (SleepFor(stop, kWatch)) {
    if (HasEnded(child, &exit)) {
      Ended(exit);
      return true;
    }
    was_ready = was_ready || folder.IsReady();
    if (SystemClock().Steady() - checked < kCheckDisk) continue;
    checked = SystemClock().Steady();
    LookAtDisk();
  }
  ShutDown(child);
  state.Change([](State& now) { now.child = 0; });
  return false;
}

void EmbeddedPostgres::Life::Run(std::stop_token stop) {
  Duration longer = kShortestPause, pause = longer;
  do {
    was_ready = false;
    const Result<pid_t> child = StartServer();
    if (child) {
      state.Change([&](State& now) { now = {*child, false, ""}; });
      if (!Watch(stop, *child)) return;
    } else {
      LogError("{}", child.error().message);
      state.Change([&](State& now) { now = {0, true, child.error().message}; });
    }
    pause = was_ready ? kShortestPause : longer;
    longer = std::min(pause * 2, kLongestPause);
  } while (SleepFor(stop, pause));
}

// A server that recovers answers "starting up" (57P03).
Status EmbeddedPostgres::Life::AwaitReady() const {
  const SteadyTime until = SystemClock().Steady() + kReadyWithin;
  std::string last = "it was not started";
  while (SystemClock().Steady() < until) {
    const State now = state.Read([](const State& value) { return value; });
    if (now.failed) return Unavailable(now.why);
    if (now.child != 0) {
      Result<std::unique_ptr<Connection>> open = Open(kSuperuserRole, kFirstDatabase);
      if (!open) open = Open(kServiceRole, kFirstDatabase);  // the only role of an earlier version
      if (open) return {};
      last = open.error().message;
    }
    (void)state.Wait({}, 20ms, [](const State& value) { return value.failed; });
  }
  return Unavailable(Format("postgres is not ready after 60 s: {}", last));
}

EmbeddedPostgres::EmbeddedPostgres() = default;

EmbeddedPostgres::~EmbeddedPostgres() {
  (void)Stop();
}

Result<std::unique_ptr<EmbeddedPostgres>> EmbeddedPostgres::Start(
    const EmbeddedPostgresOptions& options) {
  Result<PostgresFolder> folder = PostgresFolder::Open(
      options.data_dir, options.pg_bindir, std::ranges::count(options.settings, "fsync=off") == 0);
  if (!folder) return folder.error();
  std::unique_ptr<EmbeddedPostgres> postgres(new EmbeddedPostgres());
  postgres->life_ = std::make_unique<Life>(std::move(*folder), options);
  Life& life = *postgres->life_;
  life.worker = Worker("postgres", [&life](std::stop_token stop) { life.Run(stop); });
  if (Status ready = life.AwaitReady(); !ready) return ready.error();
  const auto open = [&life](const char* role, const char* name) { return life.Open(role, name); };
  if (Status prepared = PrepareRoles(open); !prepared) return prepared.error();
  return postgres;
}

std::string EmbeddedPostgres::url() const {
  return life_->Url(kServiceRole, kServiceDatabase);
}

std::string EmbeddedPostgres::superuser_url() const {
  return life_->Url(kSuperuserRole, kServiceDatabase);
}

std::string EmbeddedPostgres::UrlIn(const std::string& data_dir) {
  std::error_code error;
  const std::filesystem::path root = std::filesystem::weakly_canonical(data_dir, error);
  return UrlOf(PostgresFolder::SocketDir(root.string()), kServiceDatabase, kServiceRole);
}

int EmbeddedPostgres::pid() const {
  return life_->state.Read([](const Life::State& now) { return now.child; });
}

Status EmbeddedPostgres::Stop() {
  life_->worker.RequestStop();
  life_->worker.Join();
  return {};
}

}  // namespace stepscope

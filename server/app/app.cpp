#include "server/app/app.h"

#include <sys/stat.h>

#include <filesystem>

#include "core/base/log.h"
#include "server/api/rules/given_rules.h"
#include "server/app/proxy_trust.h"
#include "server/app/service_metrics.h"
#include "server/app/tls_files.h"
#include "server/ingest/lost_agents.h"
#include "server/postgres/ballast.h"
#include "server/store/jobs/silences.h"
#include "server/store/rules/create_job.h"

namespace stepscope {
namespace {

constexpr Duration kGrace = 8s;
constexpr Duration kCutAfter = 9s;  // after the begin of a stop, whatever the database still does
constexpr Duration kCutAfterSecondSignal = 1s;
constexpr Duration kHousekeepingEvery = 30s;
// Twice the longest time between two pushes: one of them may fail.
constexpr Duration kLostAfter = 10min;
constexpr std::size_t kPageConnections = 16;
constexpr std::size_t kBlockBytes = 64 * 1024 * 1024;  // blocks that charts have read
constexpr std::size_t kFurtherConnections = 8;         // outbox, heartbeats, compactor, ...
constexpr std::size_t kWritersOfCluster = 8;           // each writes one job's pushes

Status MakeDataDir(const std::string& path) {
  std::error_code fault;
  const bool made = std::filesystem::create_directories(path, fault);
  if (fault) {
    return Invalid(Format("the data folder {} cannot be made: {}; choose another with --data-dir",
                          path, fault.message()));
  }
  if (made) chmod(path.c_str(), 0700);
  return {};
}

// Listens before anything else starts, so that a taken port is reported at once.
Result<std::vector<Listener>> OpenAll(const std::vector<ListenAddress>& addresses) {
  std::vector<Listener> listeners;
  for (const ListenAddress& address : addresses) {
    Result<Listener> listener = Listener::Open(address);
    if (!listener) return listener.error();
    listeners.push_back(std::move(*listener));
  }
  return listeners;
}

int PortOf(const std::vector<Listener>& listeners) {
  for (const Listener& listener : listeners) {
    if (listener.port() != 0) return listener.port();
  }
  return 0;
}

}  // namespace

App::App(const Settings& settings, const Clock& clock, std::string version)
    : settings_(settings), clock_(clock), version_(std::move(version)) {}

App::~App() {
  Stop();
}

Result<std::unique_ptr<App>> App::Start(const Settings& settings, const Clock& clock,
                                        std::string version, const Pause& pause) {
  Result<std::vector<Listener>> listeners = OpenAll(settings.listen);
  if (!listeners) return listeners.error();
  std::unique_ptr<App> app(new App(settings, clock, std::move(version)));
  app->url_ = ServiceUrl(settings, PortOf(*listeners));
  Status started = app->ReadRules();
  if (started) started = MakeDataDir(settings.data_dir);
  if (started) started = app->StartDatabase(pause);
  if (started) started = app->OpenAlerts();
  if (!started) return started.error();
  app->StartWork();
  started = app->StartHttp(std::move(*listeners));
  if (!started) return started.error();
  return app;
}

Status App::ReadRules() {
  default_rules_ = DefaultRules();
  if (settings_.rules.empty()) return {};
  const Result<std::string> json = ReadWhole(settings_.rules);
  if (!json) return json.error();
  Result<std::vector<NewJob::Rule>> rules = ReadDefaultRules(*json);
  if (!rules) return Invalid(Format("--rules {}: {}", settings_.rules, rules.error().message));
  default_rules_ = std::move(*rules);
  return {};
}

Status App::StartDatabase(const Pause& pause) {
  std::string url = settings_.database_url;
  if (url.empty()) {
    Result<std::unique_ptr<EmbeddedPostgres>> postgres = EmbeddedPostgres::Start(
        {.data_dir = settings_.data_dir,
         .pg_bindir = settings_.pg_bindir,
         .settings = {},
         .ballast_bytes = static_cast<std::uint64_t>(settings_.ballast_bytes)});
    if (!postgres) return postgres.error();
    postgres_ = std::move(*postgres);
    url = postgres_->url();
  }
  if (Status done = MigrateWhenUp(url, settings_.database_wait, pause); !done) return done;
  const auto connection = Connection::Open(url);
  if (!connection) return connection.error();
  if ((*connection)->distributed()) writers_ = kWritersOfCluster;
  work_database_ = std::make_unique<Database>(
      url, static_cast<std::size_t>(settings_.evaluators) + kFurtherConnections + writers_);
  blocks_ = std::make_unique<BlockCache>(kBlockBytes);
  page_database_ = std::make_unique<Database>(url, kPageConnections, blocks_.get());
  return {};
}

Status App::OpenAlerts() {
  Result<AddressPolicy> targets = AddressPolicy::Read(settings_.webhook_allow);
  if (!targets) return Invalid("--webhook-allow: " + targets.error().message);
  targets_ = std::move(*targets);
  Result<SecretBox> secrets = SecretBox::Open(settings_.data_dir + "/webhook.key");
  if (!secrets) return secrets.error();
  secrets_ = std::make_unique<SecretBox>(std::move(*secrets));
  Result<ProxyTrust> proxies = LoadProxyTrust(settings_);
  if (!proxies) return proxies.error();
  proxies_ = std::move(*proxies);
  return {};
}

void App::StartWork() {
  IngestOptions ingest;
  ingest.default_rules = default_rules_;
  ingest.public_url = url_;
  ingest.writers = writers_;
  ingest_ = std::make_unique<Ingest>(*work_database_, clock_, ingest);
  // The storage of a database elsewhere cannot be seen from here.
  pressure_ =
      std::make_unique<PressureWatch>(*ingest_, ingest, postgres_ ? settings_.data_dir : "");
  EvaluatorOptions evaluator;
  evaluator.threads = settings_.evaluators;
  evaluator.public_url = url_;
  evaluator.evaluation.slot = settings_.evaluation_interval;
  evaluator.lease = settings_.evaluation_lease;
  evaluator.heartbeat = settings_.evaluation_lease / 3;
  evaluator_ = std::make_unique<Evaluator>(*work_database_, clock_, std::move(evaluator));
  CompactorOptions compactor;
  compactor.check_every = settings_.compaction_interval;
  compactor.paused = [&gauge = pressure_->gauge()] {
    return gauge.judgement().shortage == Shortage::kStorage;
  };
  compactor_ = std::make_unique<Compactor>(*work_database_, clock_, std::move(compactor));
  RetentionOptions retention;
  retention.keep_samples = std::chrono::hours(24) * settings_.keep_samples_days;
  retention.keep_jobs = std::chrono::hours(24) * settings_.keep_jobs_days;
  retention.keep_bytes = settings_.keep_bytes;
  retention.gives_way = [&gauge = pressure_->gauge()] {
    const Shortage shortage = gauge.judgement().shortage;
    return shortage == Shortage::kQueue || shortage == Shortage::kCommits;
  };
  retention_ = std::make_unique<Retention>(*work_database_, clock_, retention);
  OutboxOptions outbox;
  outbox.policy = targets_;
  outbox_ = std::make_unique<Outbox>(*work_database_, clock_, *secrets_, std::move(outbox));
  fleet_ = std::make_unique<FleetRounds>(*work_database_, clock_, pressure_->gauge(), url_);
  housekeeping_ = std::make_unique<Worker>(
      "housekeeping", [this](const std::stop_token& stop) { KeepHouse(stop); });
}

// Agents are not silent while nobody listens.
void App::KeepHouse(const std::stop_token& stop) {
  Listening listening;
  while (SleepFor(stop, kHousekeepingEvery)) {
    if (!KeepHouseOnce(listening)) listening.Stop();
  }
}

bool App::KeepHouseOnce(Listening& listening) {
  if (pressure_->gauge().judgement().pressure >= Pressure::kFrames) return false;
  Result<Database::Lease> lease = work_database_->Acquire();
  const Status takes = lease ? TakesFrames(**lease) : Status(lease.error());
  if (!takes) {
    LogWarning("housekeeping: {}", takes.error().message);
    return false;
  }
  const Time now = clock_.Now();
  if (listening.For(now) < kSilentAfter) return true;
  const Result<int> ended = MarkLostAgents(**lease, kLostAfter, ToMicros(now), url_);
  if (!ended) LogWarning("housekeeping: {}", ended.error().message);
  if (ended && *ended > 0) LogInfo("{} jobs ended: their agents are lost", *ended);
  const Result<int> told = TellSilentAgents(**lease, kSilentAfter, ToMicros(now), url_);
  if (!told) LogWarning("housekeeping: {}", told.error().message);
  if (told && *told > 0) LogInfo("{} nodes are silent; webhooks are told", *told);
  return told.ok();
}

Status App::StartHttp(std::vector<Listener> listeners) {
  summaries_ = std::make_unique<JobSummaries>(clock_);
  access_ = std::make_unique<Access>(*page_database_, clock_, settings_.demands_tokens());
  senders_ = std::make_unique<Senders>(*page_database_, clock_);
  api_ = std::unique_ptr<Api>(new Api{
      .database = *page_database_,
      .clock = clock_,
      .ingest = *ingest_,
      .summaries = *summaries_,
      .fleet = fleet_->fleet(),
      .access = *access_,
      .senders = *senders_,
      .public_url = url_,
      .version = version_,
      .data_dir = settings_.data_dir,
      .default_rules = default_rules_,
      .seal = [this](const std::string& secret) { return secrets_->Seal(secret); },
      .check_target = [this](const std::string& url) { return CheckWebhookUrl(url, targets_); },
      .further_metrics = [this] { return FurtherMetrics(); },
      .stopping = stopping_,
  });
  front_ = std::make_unique<Front>(ApiRoutes(*api_), AnswerStatic,
                                   FrontSettings{HostsOf(settings_), proxies_, &pressure_->gauge()},
                                   *access_, clock_);
  const EdgeOptions bounds{
      .speaks_for_many = [this](const std::string& peer) { return IsProxyAddress(proxies_, peer); },
      .body_folder = settings_.data_dir};
  http_ = std::make_unique<Edge>(bounds, front_->Handlers());
  if (settings_.tls()) {
    const Status tls = http_->UseTls({.certificate = settings_.tls_cert,
                                      .key = settings_.tls_key,
                                      .client_ca = settings_.client_ca,
                                      .require_client_certificate = settings_.require_client_cert});
    if (!tls) return tls;
  }
  pressure_->Start(*http_, bounds);
  for (Listener& listener : listeners) http_->Listen(std::move(listener));
  return {};
}

void App::ReloadTls() {
  if (!settings_.tls()) return LogInfo("nothing to read again: the service runs without TLS");
  const Status loaded = http_->ReloadTls();
  if (!loaded) return LogError("the TLS files stay as they were: {}", loaded.error().message);
  LogInfo("read {} and {} again; new connections get them", settings_.tls_cert, settings_.tls_key);
}

// Calls that wait for the database then end with an unknown outcome, as after kill -9.
void App::CutDatabase(const std::stop_token& stopped, const std::stop_token& hurry) {
  std::stop_source either;
  const std::stop_callback done(stopped, [&] { either.request_stop(); });
  const std::stop_callback soon(hurry, [&] { either.request_stop(); });
  SleepFor(either.get_token(), kCutAfter);
  if (hurry.stop_requested()) SleepFor(stopped, kCutAfterSecondSignal);
  if (stopped.stop_requested()) return;
  if (page_database_) page_database_->Cut();
  if (work_database_) work_database_->Cut();
}

void App::Stop(std::stop_token hurry) {
  stopping_ = true;
  Worker limit("limit", [&](const std::stop_token& stopped) { CutDatabase(stopped, hurry); });
  if (http_) http_->Stop(kGrace, hurry);
  if (pressure_) pressure_->Stop();
  http_.reset();
  front_.reset();
  housekeeping_.reset();
  fleet_.reset();
  outbox_.reset();
  retention_.reset();
  compactor_.reset();
  evaluator_.reset();
  pressure_.reset();
  ingest_.reset();
  limit.RequestStop();
  limit.Join();
  page_database_.reset();
  work_database_.reset();
  if (!postgres_) return;
  if (const Status stopped = postgres_->Stop(); !stopped) LogError("{}", stopped.error().message);
  postgres_.reset();
}

std::string App::FurtherMetrics() const {
  return ServiceMetrics({.front = *front_,
                         .edge = *http_,
                         .pressure = pressure_->gauge(),
                         .ballast_bytes = postgres_ ? BallastHeld(settings_.data_dir) : 0,
                         .evaluator = *evaluator_,
                         .compactor = *compactor_,
                         .retention = *retention_,
                         .outbox = *outbox_,
                         .blocks = *blocks_});
}

}  // namespace stepscope

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/options.h"
#include "core/base/time.h"
#include "server/edge/address.h"

namespace stepscope {

// The options and environment of the service, checked.
struct Settings {
  std::vector<ListenAddress> listen;
  std::string tls_cert, tls_key;           // PEM files; both or none
  std::string client_ca;                   // PEM file: agents may come with certificates of it
  bool require_client_cert = false;        // nobody may come without one
  bool insecure_http = false;              // tokens may travel in the clear
  bool require_tokens = false;             // demand them on loopback too
  std::vector<std::string> hosts;          // further names in Host headers
  std::vector<std::string> trusted_proxy;  // address ranges
  std::string proxy_secret_file, proxy_certificate;  // how such a proxy is known
  std::string data_dir;
  std::string database_url;  // empty: the embedded PostgreSQL; never logged
  Duration database_wait =
      std::chrono::seconds(60);  // how long to wait at the start until it is up
  std::string pg_bindir;
  std::string rules;                       // JSON file: changes of the rules of every new job
  std::string public_url;                  // empty: where it listens
  std::vector<std::string> webhook_allow;  // address ranges, "10.20.0.0/16"
  int evaluators = 2;
  Duration evaluation_interval = std::chrono::seconds(2);
  Duration evaluation_lease = std::chrono::seconds(30);
  Duration compaction_interval = std::chrono::seconds(5);
  int keep_samples_days = 30, keep_jobs_days = 400;  // 0: for ever
  std::int64_t ballast_bytes = 0;
  std::int64_t keep_bytes = 0;  // 0: no limit
  LogLevel log_level = LogLevel::kInfo;
  std::vector<std::string> warnings;  // for the log: options given by their old names

  bool tls() const { return !tls_cert.empty(); }
  // Whether callers have to say who they are: everywhere but on loopback and unix sockets.
  bool demands_tokens() const;
};

// Reads the options that say where the data is.
Status ReadDataSettings(const Arguments& arguments, Settings& settings);

// Reads the environment too: STEPSCOPE_DATABASE_URL, XDG_DATA_HOME, HOME. Errors name the option
// and the way out.
Result<Settings> ReadSettings(const Arguments& arguments);

// "https://train-7:8080", without a slash at its end; `port` is the one really listened on.
std::string ServiceUrl(const Settings& settings, int port);

// The names in a Host header that this service answers to.
std::vector<std::string> HostsOf(const Settings& settings);

}  // namespace stepscope

#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/options.h"

namespace stepscope {

// What the service was started with, checked.
struct Settings {
  std::string host = "127.0.0.1";  // an IPv6 address without its brackets
  int port = 8080;
  std::string data_dir;
  std::string database_url;  // empty: the embedded PostgreSQL; never logged
  std::string pg_bindir;
  std::string public_url;                  // empty: where it listens
  std::vector<std::string> webhook_allow;  // address ranges, "10.20.0.0/16"
  int evaluators = 2;
  bool insecure_open = false;
  LogLevel log_level = LogLevel::kInfo;
};

// The options of stepscope-server; --help shows the same rows.
std::span<const Option> ServerOptions();

// Reads the environment too: STEPSCOPE_DATABASE_URL, XDG_DATA_HOME, HOME. Errors name the option
// and the way out.
Result<Settings> ReadSettings(const Arguments& arguments);

// "http://127.0.0.1:8080", without a slash at its end.
std::string HttpUrl(const std::string& host, int port);

// The names in a Host header that this service answers to; none = any.
std::vector<std::string> HostsOf(const Settings& settings);

}  // namespace stepscope

#include "server/app/settings.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "core/base/text.h"
#include "core/http/url.h"
#include "server/app/options.h"

namespace stepscope {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string OwnHostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 && name[0] ? name.data() : "localhost";
}

bool IsAny(const std::string& host) {
  return host == "0.0.0.0" || host == "::";
}

std::vector<std::string> ReadList(const std::string& text) {
  std::vector<std::string> list;
  for (const std::string_view part : Split(text, ',')) {
    if (!Trim(part).empty()) list.emplace_back(Trim(part));
  }
  return list;
}

Result<std::vector<ListenAddress>> ReadListen(const std::string& text) {
  std::vector<ListenAddress> addresses;
  for (const std::string& part : ReadList(text)) {
    Result<ListenAddress> address = ParseListenAddress(part);
    if (!address) return Invalid("--listen " + address.error().message);
    addresses.push_back(std::move(*address));
  }
  if (addresses.empty()) return Invalid("--listen: HOST:PORT is wanted, such as 127.0.0.1:8080");
  return addresses;
}

Result<std::string> FindDataDir(const std::string& given) {
  if (!given.empty()) return given;
  if (geteuid() == 0)
    return std::string("/var/lib/stepscope");  // PostgreSQL runs as another user then
  if (const std::string base = Environment("XDG_DATA_HOME"); !base.empty()) {
    return base + "/stepscope";
  }
  const std::string home = Environment("HOME");
  if (home.empty()) return Invalid("no data folder: neither HOME nor --data-dir is set");
  return home + "/.local/share/stepscope";
}

Result<std::string> ReadPublicUrl(std::string text) {
  while (text.ends_with('/')) text.pop_back();
  if (text.empty()) return text;
  const Result<Url> url = ParseUrl(text);
  if (!url) return Invalid("--public-url: " + url.error().message);
  return text;
}

// Half a century is longer than anyone measures, and fits every calendar.
Result<int> ReadDays(const Arguments& arguments, const std::string& option) {
  const std::string& text = arguments[option];
  const Result<std::int64_t> days = ParseInt(text, option);
  if (days && *days >= 0 && *days <= 20'000) return static_cast<int>(*days);
  return Invalid(Format("{} {}: days from 0 to 20000 are wanted", option, Printable(text)));
}

Result<std::int64_t> ReadSize(const Arguments& arguments, const std::string& option) {
  const std::string& text = arguments[option];
  if (text == "0") return 0;
  static constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"MB", 1'000'000}, {"GB", 1'000'000'000}, {"TB", 1'000'000'000'000}};
  for (const auto& [unit, bytes] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number = ParseInt(text.substr(0, text.size() - unit.size()), option);
    if (number && *number >= 1 && *number <= 1'000'000) return *number * bytes;
  }
  return Invalid(
      Format("{} {}: 0, or a size such as 500MB, 200GB or 2TB is wanted", option, Printable(text)));
}

Result<Duration> ReadWait(const Arguments& arguments) {
  const std::string& text = arguments["--database-wait"];
  const Result<Duration> wait = ParseDuration(text);
  if (wait && *wait <= std::chrono::hours(1)) return wait;
  return Invalid(Format("--database-wait {}: a time up to 60m is wanted", Printable(text)));
}

Result<int> ReadEvaluators(const std::string& text) {
  const Result<std::int64_t> number = ParseInt(text, "--evaluators");
  if (number && *number >= 0 && *number <= 16) return static_cast<int>(*number);
  return Invalid(Format("--evaluators {}: a number from 0 to 16 is wanted", Printable(text)));
}

Result<Duration> ReadBetween(const Arguments& arguments, const char* option, Duration least,
                             Duration most) {
  const std::string& text = arguments[option];
  const Result<Duration> read = ParseDuration(text);
  if (read && *read >= least && *read <= most) return read;
  return Invalid(Format("{} {}: a time from {} to {} is wanted", arguments.NameOf(option),
                        Printable(text), ToText(least), ToText(most)));
}

Status CheckTls(const Settings& settings) {
  if (settings.tls_cert.empty() != settings.tls_key.empty()) {
    return Invalid("--tls-cert and --tls-key belong together");
  }
  if (!settings.tls() && !settings.client_ca.empty()) {
    return Invalid("--client-ca: certificates come with TLS; give --tls-cert and --tls-key");
  }
  if (settings.require_client_cert && settings.client_ca.empty()) {
    return Invalid("--require-client-cert: say with --client-ca whose certificates");
  }
  return {};
}

// A service is never open, nor a token readable on the way, unless an option says so.
Status CheckOpen(const Settings& settings) {
  if (settings.tls() || settings.insecure_http) return {};
  const auto open = std::ranges::find_if_not(settings.listen, &ListenAddress::local);
  if (open == settings.listen.end()) return {};
  return Invalid(Format(
      "--listen {}: others reach this address, so tokens travel over it; give --tls-cert and "
      "--tls-key (stepscope-server tls self-signed makes a first set), or say --insecure-http",
      open->text()));
}

Status CheckProxy(const Settings& settings) {
  if (settings.trusted_proxy.empty() || !settings.proxy_secret_file.empty() ||
      !settings.proxy_certificate.empty()) {
    return {};
  }
  return Invalid("--trusted-proxy: an address proves little; give --proxy-secret-file too");
}

template <typename T>
Status Take(Result<T> from, T& to) {
  if (!from) return from.error();
  to = std::move(*from);
  return {};
}

void ReadTexts(const Arguments& arguments, Settings& settings) {
  settings.tls_cert = arguments["--tls-cert"];
  settings.tls_key = arguments["--tls-key"];
  settings.client_ca = arguments["--client-ca"];
  settings.require_client_cert = arguments.Has("--require-client-cert");
  settings.insecure_http = arguments.Has("--insecure-http");
  settings.require_tokens = arguments.Has("--require-tokens");
  settings.hosts = ReadList(arguments["--host"]);
  settings.trusted_proxy = ReadList(arguments["--trusted-proxy"]);
  settings.proxy_secret_file = arguments["--proxy-secret-file"];
  settings.proxy_certificate = arguments["--proxy-certificate"];
  settings.webhook_allow = ReadList(arguments["--webhook-allow"]);
  settings.rules = arguments["--rules"];
}

}  // namespace

bool Settings::demands_tokens() const {
  return require_tokens || !std::ranges::all_of(listen, &ListenAddress::local);
}

Status ReadDataSettings(const Arguments& arguments, Settings& settings) {
  settings.pg_bindir = arguments["--pg-bindir"];
  settings.database_url = arguments["--database-url"];
  if (settings.database_url.empty()) settings.database_url = Environment("STEPSCOPE_DATABASE_URL");
  return Take(FindDataDir(arguments["--data-dir"]), settings.data_dir);
}

Result<Settings> ReadSettings(const Arguments& arguments) {
  Settings settings;
  ReadTexts(arguments, settings);
  settings.warnings = OldNameWarnings(arguments);
  Status read = Take(ReadListen(arguments["--listen"]), settings.listen);
  if (read) read = CheckTls(settings);
  if (read) read = CheckOpen(settings);
  if (read) read = CheckProxy(settings);
  if (read) read = ReadDataSettings(arguments, settings);
  if (read) read = Take(ReadWait(arguments), settings.database_wait);
  if (read) read = Take(ReadPublicUrl(arguments["--public-url"]), settings.public_url);
  if (read) read = Take(ReadEvaluators(arguments["--evaluators"]), settings.evaluators);
  if (read) {
    read = Take(ReadBetween(arguments, "--evaluation-interval", 100ms, 5min),
                settings.evaluation_interval);
  }
  if (read) {
    read = Take(ReadBetween(arguments, "--evaluation-lease", 1s, 10min), settings.evaluation_lease);
  }
  if (read) {
    read = Take(ReadBetween(arguments, "--compaction-interval", 100ms, 5min),
                settings.compaction_interval);
  }
  if (read) read = Take(ReadDays(arguments, "--keep-samples"), settings.keep_samples_days);
  if (read) read = Take(ReadDays(arguments, "--keep-jobs"), settings.keep_jobs_days);
  if (read) read = Take(ReadSize(arguments, "--keep-size"), settings.keep_bytes);
  if (read) read = Take(ReadSize(arguments, "--ballast"), settings.ballast_bytes);
  if (read) read = Take(ParseLogLevel(arguments["--log-level"]), settings.log_level);
  if (!read) return read.error();
  return settings;
}

std::string ServiceUrl(const Settings& settings, int port) {
  if (!settings.public_url.empty()) return settings.public_url;
  const std::string scheme = settings.tls() ? "https://" : "http://";
  for (const ListenAddress& address : settings.listen) {
    if (!address.path.empty()) continue;
    const std::string host = IsAny(address.host) ? OwnHostName() : address.host;
    return scheme + ListenAddress{.host = host, .port = port}.text();
  }
  return scheme + "localhost";
}

std::vector<std::string> HostsOf(const Settings& settings) {
  std::vector<std::string> hosts = {"localhost", OwnHostName()};
  for (const ListenAddress& address : settings.listen) {
    if (!address.host.empty()) hosts.push_back(address.host);
  }
  hosts.insert(hosts.end(), settings.hosts.begin(), settings.hosts.end());
  const Result<Url> url = ParseUrl(settings.public_url);
  if (url) hosts.push_back(url->host);
  return hosts;
}

}  // namespace stepscope

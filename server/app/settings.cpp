#include "server/app/settings.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "core/base/text.h"
#include "core/http/url.h"

namespace stepscope {
namespace {

constexpr Option kOptions[] = {
    {"--listen", "HOST:PORT", "127.0.0.1:8080", "Address of the web page, the API and the agents."},
    {"--data-dir", "DIR", "",
     "Folder of the database and the key; $XDG_DATA_HOME/stepscope or ~/.local/share/stepscope "
     "when "
     "left out; /var/lib/stepscope for root."},
    {"--database-url", "URL", "",
     "A PostgreSQL of your own, as postgresql://user@host/name; also from STEPSCOPE_DATABASE_URL. "
     "Left out: a private PostgreSQL in the data folder."},
    {"--pg-bindir", "DIR", "",
     "Where initdb and postgres are; the newest installed when left out."},
    {"--public-url", "URL", "", "Address of the web page as people see it, for links in messages."},
    {"--webhook-allow", "CIDR[,..]", "",
     "Private address ranges that webhooks may be sent to, such as 10.20.0.0/16."},
    {"--evaluators", "N", "2", "Threads that judge jobs by their rules, 1 to 16."},
    {"--insecure-open", "", "",
     "Allow an address other than loopback although there is no access control yet: whoever "
     "reaches "
     "it reads and changes everything."},
    {"--log-level", "LEVEL", "info", "debug, info, warning or error."},
    {"--version", "", "", "Print the version and end."},
};

Status ReadListen(const std::string& text, Settings& settings) {
  const std::size_t colon = text.rfind(':');
  const Error wrong =
      Invalid(Format("--listen {}: HOST:PORT is wanted, such as 127.0.0.1:8080", Printable(text)));
  if (colon == std::string::npos || colon == 0) return wrong;
  settings.host = text.substr(0, colon);
  if (settings.host.starts_with('[') && settings.host.ends_with(']')) {
    settings.host = settings.host.substr(1, settings.host.size() - 2);
  }
  const Result<std::int64_t> port = ParseInt(text.substr(colon + 1), "port");
  if (!port || *port < 0 || *port > 65'535 || settings.host.empty()) return wrong;
  settings.port = static_cast<int>(*port);
  return {};
}

bool IsLoopback(const std::string& host) {
  in_addr address{};
  if (inet_pton(AF_INET, host.c_str(), &address) == 1) return ntohl(address.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
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

Result<int> ReadEvaluators(const std::string& text) {
  const Result<std::int64_t> number = ParseInt(text, "--evaluators");
  if (number && *number >= 1 && *number <= 16) return static_cast<int>(*number);
  return Invalid(Format("--evaluators {}: a number from 1 to 16 is wanted", Printable(text)));
}

Status CheckOpen(const Settings& settings) {
  if (IsLoopback(settings.host) || settings.insecure_open) return {};
  return Invalid(
      Format("--listen {}: there is no access control yet; listen on 127.0.0.1, or say "
             "--insecure-open when everyone who reaches this address may do everything",
             settings.host));
}

template <typename T>
Status Take(Result<T> from, T& to) {
  if (!from) return from.error();
  to = std::move(*from);
  return {};
}

}  // namespace

std::span<const Option> ServerOptions() {
  return kOptions;
}

Result<Settings> ReadSettings(const Arguments& arguments) {
  Settings settings;
  settings.insecure_open = arguments.Has("--insecure-open");
  settings.pg_bindir = arguments["--pg-bindir"];
  settings.database_url = arguments["--database-url"];
  if (settings.database_url.empty()) settings.database_url = Environment("STEPSCOPE_DATABASE_URL");
  for (const std::string_view range : Split(arguments["--webhook-allow"], ',')) {
    if (!Trim(range).empty()) settings.webhook_allow.emplace_back(Trim(range));
  }
  Status read = ReadListen(arguments["--listen"], settings);
  if (read) read = CheckOpen(settings);
  if (read) read = Take(FindDataDir(arguments["--data-dir"]), settings.data_dir);
  if (read) read = Take(ReadPublicUrl(arguments["--public-url"]), settings.public_url);
  if (read) read = Take(ReadEvaluators(arguments["--evaluators"]), settings.evaluators);
  if (read) read = Take(ParseLogLevel(arguments["--log-level"]), settings.log_level);
  if (!read) return read.error();
  return settings;
}

std::string HttpUrl(const std::string& host, int port) {
  const bool any = host == "0.0.0.0" || host == "::";
  const bool six = host.find(':') != std::string::npos;
  const std::string name = any ? "127.0.0.1" : six ? "[" + host + "]" : host;
  return Format("http://{}:{}", name, port);
}

std::vector<std::string> HostsOf(const Settings& settings) {
  if (!IsLoopback(settings.host)) return {};
  std::vector<std::string> hosts = {"localhost", "127.0.0.1", "[::1]"};
  if (settings.host.find(':') == std::string::npos) hosts.push_back(settings.host);
  const Result<Url> url = ParseUrl(settings.public_url);
  if (url) hosts.push_back(url->host);
  return hosts;
}

}  // namespace stepscope

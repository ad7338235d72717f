#include "server/app/options.h"

#include <array>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::array kDataOptions = {
    Option{"--data-dir", "DIR", "",
           "Folder of the database and the key; $XDG_DATA_HOME/stepscope or "
           "~/.local/share/stepscope when left out; /var/lib/stepscope for root."},
    Option{"--database-url", "URL", "",
           "A PostgreSQL of your own, as postgresql://user@host/name; also from "
           "STEPSCOPE_DATABASE_URL. Left out: a private PostgreSQL in the data folder."},
    Option{"--pg-bindir", "DIR", "",
           "Where initdb and postgres are; the newest installed when left out."},
};

constexpr std::array kOptions = {
    Option{"--listen", "ADDRESS[,..]", "127.0.0.1:8080",
           "Where the web page, the API and the agents come in: HOST:PORT, [IPV6]:PORT or "
           "unix:/PATH. Any address but loopback demands tokens, and TLS or --insecure-http."},
    Option{"--tls-cert", "FILE", "",
           "Certificate chain in PEM; read again on SIGHUP. For a first one: stepscope-server tls "
           "self-signed."},
    Option{"--tls-key", "FILE", "", "Its private key in PEM."},
    Option{"--client-ca", "FILE", "",
           "Agents may show a certificate of this CA instead of a token."},
    Option{"--require-client-cert", "", "", "Refuse whoever shows no such certificate."},
    Option{"--insecure-http", "", "",
           "Listen without TLS on an address that others reach: tokens then travel in the clear. "
           "For a network you trust, or behind a proxy that speaks TLS."},
    Option{"--require-tokens", "", "", "Demand tokens on loopback too."},
    Option{"--host", "NAME[,..]", "",
           "Further names under which people and agents reach this service."},
    Option{"--trusted-proxy", "CIDR[,..]", "",
           "Proxies whose X-Forwarded-* and X-Stepscope-* headers are believed, such as "
           "10.0.0.0/8, or \"unix\"; wants one of the next two."},
    Option{"--proxy-secret-file", "FILE", "",
           "What such a proxy sends as X-Stepscope-Proxy-Secret, at least 16 bytes."},
    Option{"--proxy-certificate", "NAME", "",
           "The name in the client certificate of such a proxy."},
    kDataOptions[0],
    kDataOptions[1],
    kDataOptions[2],
    Option{"--database-wait", "TIME", "60s",
           "How long to wait at the start for a database that is not up yet; 0s to end at once."},
    Option{"--public-url", "URL", "",
           "Address of the web page as people see it, for links in messages."},
    Option{"--webhook-allow", "CIDR[,..]", "",
           "Private address ranges that webhooks may be sent to, such as 10.20.0.0/16."},
    Option{"--rules", "FILE", "",
           "JSON list of changes of the rules that jobs have which name none, as PATCH takes it."},
    Option{"--evaluators", "N", "2",
           "Threads that judge jobs by their rules, up to 16; 0 leaves it to other replicas."},
    Option{"--evaluation-interval", "TIME", "2s",
           "How often a running job is judged by its rules, 100ms to 5m."},
    Option{"--evaluation-lease", "TIME", "30s",
           "When others take over from a replica that died while it judged, 1s to 10m."},
    Option{"--compaction-interval", "TIME", "5s",
           "How often the service checks for samples to be put into blocks, 100ms to 5m."},
    Option{"--keep-samples", "DAYS", "30",
           "Age at which samples and steps are removed, 0 to keep them; charts of wide ranges, "
           "statuses and findings stay."},
    Option{
        "--keep-jobs", "DAYS", "400",
        "Days after its end that a job is removed with its messages to webhooks, and age at which "
        "the record of changes is; 0 to keep them."},
    Option{"--keep-size", "SIZE", "0",
           "What all jobs may take, such as 200GB; 0 for any size. Above it the oldest samples of "
           "all jobs are removed, then the oldest jobs that have ended."},
    Option{
        "--ballast", "SIZE", "256MB",
        "Disk kept back for the private PostgreSQL, which needs it to come up again when the disk "
        "was full; on a small disk 5 % of it, but 64MB. 0 for none."},
    Option{"--log-level", "LEVEL", "info", "debug, info, warning or error."},
    Option{"--version", "", "", "Print the version and end."},
};

struct RenamedOption {
  std::string_view before, name;
};

// Old names are taken for one release.
constexpr RenamedOption kRenamed[] = {{"--evaluation-slot", "--evaluation-interval"},
                                      {"--compact-look", "--compaction-interval"}};

}  // namespace

std::span<const Option> ServerOptions() {
  return kOptions;
}

std::span<const Option> DataOptions() {
  return kDataOptions;
}

Result<Arguments> ParseServerArguments(std::span<const char* const> words) {
  std::vector<Option> table(kOptions.begin(), kOptions.end());
  for (const RenamedOption& renamed : kRenamed) table.push_back({renamed.before, "TIME", "", ""});
  Result<Arguments> arguments = ParseArguments(table, words);
  if (!arguments) return arguments;
  for (const auto& [before, name] : kRenamed) {
    if (!arguments->lists.contains(before)) continue;
    if (arguments->lists.contains(name)) {
      return Invalid(Format("{} is the old name of {}: give one of them", before, name));
    }
    arguments->values[std::string(name)] = arguments->values[std::string(before)];
    arguments->origins[std::string(name)] = before;
  }
  return arguments;
}

std::vector<std::string> OldNameWarnings(const Arguments& arguments) {
  std::vector<std::string> warnings;
  for (const auto& [before, name] : kRenamed) {
    if (arguments.NameOf(name) != before) continue;
    warnings.push_back(
        Format("{} is called {} now; the next release does not take the old name", before, name));
  }
  return warnings;
}

}  // namespace stepscope

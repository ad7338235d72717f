#include "server/app/commands/tls_self_signed.h"

#include <algorithm>

#include "core/base/options.h"
#include "core/base/text.h"
#include "core/http/url.h"
#include "server/app/commands/tls_folder.h"
#include "server/app/tls_files.h"

namespace stepscope {
namespace {

constexpr const char* kSelf[] = {"localhost", "127.0.0.1", "::1"};

constexpr Option kSelfSignedOptions[] = {
    {"--out", "DIR", kTlsFolder, "Where the files go; an authority that is there signs again."},
    {"--host", "NAME[,..]", "",
     "Names and addresses under which people and agents reach the service; this host's name when "
     "left out. localhost, 127.0.0.1 and ::1 are always among them."},
    {"--days", "N", "825", "How long the service's certificate is good, 1 to 3650."},
    {"--force", "", "", "Replace the service's certificate and key; the authority stays."},
};

// Reads a name as strictly as that of a URL; it may begin with "*.".
Result<std::string> ReadHost(std::string_view text) {
  const bool wild = text.starts_with("*.");
  const std::string rest(wild ? text.substr(2) : text);
  const std::string shown = rest.find(':') != rest.npos ? "[" + rest + "]" : rest;
  const auto url = ParseUrl(Format("https://{}/", shown));
  const bool bare = url && url->host.size() == rest.size() && !(wild && IsNumericHost(url->host));
  if (!bare) return Invalid(Format("--host {}: a name or an address is wanted", Printable(text)));
  return (wild ? "*." : "") + url->host;
}

Result<std::vector<std::string>> ReadHosts(const std::string& text) {
  std::vector<std::string> hosts;
  const std::string given = text.empty() ? HostName() : text;
  for (const std::string_view each : Split(given, ',')) {
    auto host = ReadHost(Trim(each));
    if (host) hosts.push_back(std::move(*host));
    // Not every machine has a name that others could use.
    if (!host && !text.empty()) return host.error();
  }
  for (const char* own : kSelf) {
    if (std::ranges::count(hosts, own) == 0) hosts.emplace_back(own);
  }
  return hosts;
}

// The address for agents on other machines: the first host that is no pattern.
std::string Reached(const std::vector<std::string>& hosts) {
  const auto found =
      std::ranges::find_if(hosts, [](const std::string& host) { return host[0] != '*'; });
  return found->find(':') == found->npos ? *found : "[" + *found + "]";
}

std::string Names(const std::vector<std::string>& hosts) {
  std::string text;
  for (const std::string& host : hosts) text += (text.empty() ? "" : ", ") + host;
  return text;
}

struct Made {
  std::string folder;
  std::vector<std::string> hosts;
  CertificateAndKey authority, server;
};

Result<std::string> Tell(const Made& made) {
  const auto authority_end = EndOf(made.authority.certificate);
  if (!authority_end) return authority_end.error();
  const auto end = EndOf(made.server.certificate);
  if (!end) return end.error();
  return Format(R"({0}/ca.crt      for agents and browsers to trust, until {1}
{0}/ca.key      signs further certificates; the service does not need it, so keep it elsewhere
{0}/server.crt  for {2}, until {3}
{0}/server.key

Start the service:
  stepscope-server --listen 0.0.0.0:8443 --tls-cert {0}/server.crt --tls-key {0}/server.key
Where it runs already, kill -HUP lets it read the new files.

Start agents with a copy of ca.crt, and a token of "stepscope-server token create --role agent":
  stepscope-agent run --server https://{4}:8443 --ca-file ca.crt --token-file agent.token \
      --job my-first -- python train.py
)",
                made.folder, *authority_end, Names(made.hosts), *end, Reached(made.hosts));
}

Status Make(const Arguments& arguments, Time now, Made& made) {
  const auto days = ReadDays(arguments["--days"]);
  if (!days) return days.error();
  if (Status folder = MakeFolder(made.folder); !folder) return folder;
  auto authority = FindAuthority(made.folder, now);
  if (!authority) return authority.error();
  auto server = MakeServerCertificate(*authority, made.hosts, {now, *days});
  if (!server) return server.error();
  made.authority = std::move(*authority);
  made.server = std::move(*server);
  return SaveCredentials(made.folder + "/server", made.server, arguments.Has("--force"));
}

}  // namespace

Result<std::string> MakeSelfSigned(Words words, Time now) {
  const auto arguments = ParseArguments(kSelfSignedOptions, words);
  if (!arguments) return arguments.error();
  if (arguments->help) return OptionsHelp(kSelfSignedOptions);
  auto hosts = ReadHosts((*arguments)["--host"]);
  if (!hosts) return hosts.error();
  Made made{AbsolutePath((*arguments)["--out"]), std::move(*hosts), {}, {}};
  if (Status done = Make(*arguments, now, made); !done) return done.error();
  return Tell(made);
}

}  // namespace stepscope

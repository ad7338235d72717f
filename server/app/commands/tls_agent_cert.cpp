#include "server/app/commands/tls_agent_cert.h"

#include <algorithm>

#include "core/base/options.h"
#include "core/base/text.h"
#include "core/model/names.h"
#include "server/app/commands/tls_folder.h"
#include "server/app/tls_files.h"

namespace stepscope {
namespace {

constexpr Option kAgentCertOptions[] = {
    {"--node", "NAME", "", "The node whose agents show it, as in the agents' --node.", true},
    {"--ca", "DIR", kTlsFolder, "Where ca.crt and ca.key are."},
    {"--out", "DIR", "", "Where the files go; the folder of the authority when left out."},
    {"--days", "N", "825", "How long it is good, 1 to 3650."},
    {"--force", "", "", "Replace files that are there."},
};

// The name of a node may have a slash, that of a file may not.
std::string FileNameOf(std::string node) {
  std::ranges::replace_if(
      node,
      [](char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return !letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.';
      },
      '_');
  return "agent-" + node;
}

Result<std::string> Make(const Arguments& arguments, int days, Time now) {
  const std::string& node = arguments["--node"];
  const std::string from = AbsolutePath(arguments["--ca"]);
  const std::string out = arguments.Has("--out") ? AbsolutePath(arguments["--out"]) : from;
  const auto authority = LoadAuthority(from);
  if (!authority) return authority.error();
  const auto made = MakeAgentCertificate(*authority, node, {now, days});
  if (!made) return made.error();
  if (Status folder = MakeFolder(out); !folder) return folder.error();
  const std::string path = Format("{}/{}", out, FileNameOf(node));
  if (Status saved = SaveCredentials(path, *made, arguments.Has("--force")); !saved) {
    return saved.error();
  }
  const auto end = EndOf(made->certificate);
  if (!end) return end.error();
  return Format(R"({0}.crt  for the agents of node {1}, until {2}
{0}.key

Start the service with --client-ca {3}/ca.crt, and the agents of that node with
  --node '{1}' --cert {0}.crt --key {0}.key
)",
                path, node, *end, from);
}

}  // namespace

Result<std::string> MakeAgentCert(Words words, Time now) {
  const auto arguments = ParseArguments(kAgentCertOptions, words);
  if (!arguments) return arguments.error();
  if (arguments->help) return OptionsHelp(kAgentCertOptions);
  if (Status good = CheckLabel("--node", (*arguments)["--node"]); !good) return good.error();
  const auto days = ReadDays((*arguments)["--days"]);
  if (!days) return days.error();
  return Make(*arguments, *days, now);
}

}  // namespace stepscope

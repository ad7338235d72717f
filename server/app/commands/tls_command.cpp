#include "server/app/commands/tls_command.h"

#include "core/base/clock.h"
#include "core/base/text.h"
#include "server/app/commands/tls_agent_cert.h"
#include "server/app/commands/tls_self_signed.h"

namespace stepscope {
namespace {

struct Kind {
  std::string_view name;
  std::string_view sentence;
  Result<std::string> (*run)(Words words, Time now);
};
constexpr Kind kKinds[] = {
    {"self-signed", "an authority of your own, and the service's certificate", MakeSelfSigned},
    {"agent-cert", "a certificate for the agents of one node, for --client-ca", MakeAgentCert},
};

std::string TlsHelp() {
  std::string text = "stepscope-server tls: certificates for a first set-up.\n\n";
  for (const Kind& kind : kKinds) {
    text += Format("  stepscope-server tls {:<12} {} (--help)\n", kind.name, kind.sentence);
  }
  return text;
}

}  // namespace

int RunTls(Words words) {
  const std::string_view what = words.empty() ? "" : words[0];
  if (what == "--help" || what == "-h") return Print(stdout, TlsHelp()), 0;
  for (const Kind& kind : kKinds) {
    if (kind.name != what) continue;
    const auto said = kind.run(words.subspan(1), SystemClock().Now());
    if (said) return Print(stdout, *said), 0;
    return Complain(said.error().message, said.error().code == Code::kInvalid ? kUsage : kFailed);
  }
  return Complain("tls: say what to make: self-signed or agent-cert (see tls --help)", kUsage);
}

}  // namespace stepscope

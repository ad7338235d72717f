#include "server/app/commands/token_options.h"

#include "core/base/text.h"
#include "server/app/options.h"
#include "server/app/settings.h"

namespace stepscope {
namespace {

std::vector<Option> WithData(std::vector<Option> options) {
  const std::span<const Option> data = DataOptions();
  options.insert(options.end(), data.begin(), data.end());
  return options;
}

}  // namespace

TokenVerb TokenCreate() {
  return {"create", "make a token and print it, once",
          R"(
The token alone goes to standard output, so that it can go into a file:
  umask 077; stepscope-server token create --role admin --name alice > alice.token
  stepscope-server token create --role agent --name team-a --scope 'team-a-*' > agent.token
  stepscope-server token create --role agent --name team-b --nodes 'speech-*' > speech.token
  stepscope-server token create --role reader --name grafana --expires 90
)",
          WithData({
              {"--role", "ROLE", "", "agent, reader, operator or admin.", true},
              {"--name", "NAME", "",
               "Of the person or machine. A token that replaces another has the same.", true},
              {"--scope", "JOBS", "",
               "Jobs it is for: names, or beginnings and '*', separated by commas; all when left "
               "out."},
              {"--nodes", "NAMES", "",
               "Nodes it is for, named likewise. Nobody without such a token gets one of these "
               "names that is not taken yet. For agents and operators."},
              {"--expires", "DAYS", "365", "Days until it ends, 1 to 365."},
          }),
          false};
}

TokenVerb TokenList() {
  return {"list", "show all tokens, newest first, without their texts",
          "\nExample:\n  stepscope-server token list\n", WithData({}), false};
}

TokenVerb TokenRevoke() {
  return {"revoke", "end a token, by the eight letters in its text",
          "\nExample:\n  stepscope-server token revoke k3Jd82Lq\n", WithData({}), true};
}

std::string HelpOf(const TokenVerb& verb) {
  return Format("stepscope-server token {}: {}.\n\n{}{}", verb.name, verb.sentence,
                OptionsHelp(verb.options), verb.examples);
}

Result<Arguments> ReadVerb(const TokenVerb& verb, Words words) {
  Result<Arguments> arguments = ParseArguments(verb.options, words, verb.positional);
  if (arguments) return arguments;
  return Invalid(Format("token {}: {}", verb.name, arguments.error().message));
}

}  // namespace stepscope

#pragma once

#include <string>
#include <string_view>

#include "core/base/options.h"
#include "server/app/commands/command.h"

namespace stepscope {

// A verb of "token create", "token list" and "token revoke": its options and its help.
struct TokenVerb {
  std::string_view name, sentence, examples;
  std::vector<Option> options;  // among them those that say where the data is
  bool positional = false;      // takes words without an option
};
TokenVerb TokenCreate();
TokenVerb TokenList();
TokenVerb TokenRevoke();

std::string HelpOf(const TokenVerb& verb);

// Parses the words; Invalid names the verb.
Result<Arguments> ReadVerb(const TokenVerb& verb, Words words);

}  // namespace stepscope

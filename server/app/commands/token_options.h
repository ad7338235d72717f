#pragma once

#include <string>
#include <string_view>

#include "core/base/options.h"
#include "server/app/commands/command.h"

namespace stepscope {

// One of "token create", "token list" and "token revoke": its options and how it is explained.
struct TokenVerb {
  std::string_view name, sentence, examples;
  std::vector<Option> options;  // with those that say where the data is
  bool positional = false;      // takes words without an option
};
TokenVerb TokenCreate();
TokenVerb TokenList();
TokenVerb TokenRevoke();

std::string HelpOf(const TokenVerb& verb);

// The words read; Invalid names the verb.
Result<Arguments> ReadVerb(const TokenVerb& verb, Words words);

}  // namespace stepscope

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepscope {

// Which names stand before a secret, and which values behind them look like one.

// How sure it is that the value behind a name is secret.
enum class Sure : std::uint8_t {
  kAnyValue,     // whatever it is
  kAfterBlank,   // and also when only a blank stands between name and value
  kIfNotNumber,  // counts have this name, too
  kIfRandom      // only where it looks as random as a key
};

// Where a name was found.
struct NamePlace {
  bool assigned = false;  // '=' follows, or ':' behind its quotes
  bool is_word = false;   // it begins an argument of a command
};

// How sure a name is, in lower case and with the dashes of an option; nothing where it names no
// secret.
std::optional<Sure> SureOf(std::string_view name, const NamePlace& place);

// Whether a value behind a name of that kind is secret. Words that stand for no value never are.
bool IsSecretValue(Sure sure, std::string_view value);

// Whether it looks as if it was drawn at random.
bool LooksRandom(std::string_view value);

// A count, a size, a share.
bool IsNumber(std::string_view value);

// Characters of tokens, escaped for URLs or not.
bool IsTokenByte(char c);
bool IsAlnum(char c);

}  // namespace stepscope

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stepscope {

// The parts of HideSecrets, each for one kind of secret. A text is a line, or the words of a
// command line with a byte 0 between each two, which no part removes or reads beyond.

inline constexpr std::string_view kHidden = "***";
inline constexpr char kWordEnd = '\0';

// Tokens of well-known providers, by their beginnings.
void HideTokens(std::string& text);

// The user and password of URLs, and what stands behind the paths of webhooks.
void HideUrls(std::string& text);

// Values behind names: "name=value", '"name": "value"', 'x["name"] = "value"', "--name value",
// '"--name", "value"'. `more_names` are parts of names.
void HideNamedValues(std::string& text, bool words, std::span<const std::string> more_names);

// Values of options that are secret for one program only, such as "curl -u NAME:PASSWORD".
void HideProgramOptions(std::string& text);

// The end of the value that begins at `begin`: of the word behind kWordEnd, of the text within
// quotes, else the next blank or separator.
std::size_t EndOfValue(std::string_view text, std::size_t begin);

bool IsBlank(char c);
bool IsQuote(char c);

}  // namespace stepscope

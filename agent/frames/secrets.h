#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// What stays on the node: secrets in the words of a command and in the last lines of its output.
// Whatever looks like a password, key or token becomes "***": tokens of well-known providers by
// their beginnings, credentials within URLs, and the values behind names such as --api-key. A
// secret that looks like an ordinary word and has no name is not recognised.

// What the user said about it.
struct SecretOptions {
  bool sends_command = true;              // false: no word of the command leaves the node
  std::vector<std::string> more_names{};  // names whose values are secret, too, such as "licence"
};

// Hides secrets within a line of text. `more_names` are parts of names, in any case of letters.
std::string HideSecrets(std::string text, std::span<const std::string> more_names = {});

// Hides secrets within lines that follow each other, of which several may be one private key. The
// number of lines stays.
std::vector<std::string> HideSecretLines(std::vector<std::string> lines,
                                         std::span<const std::string> more_names = {});

// Hides secrets within the words of a command line, where a name and its value may be two words.
// The number of words stays.
std::vector<std::string> HideSecretWords(std::vector<std::string> words,
                                         std::span<const std::string> more_names = {});

}  // namespace stepscope

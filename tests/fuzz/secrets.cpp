// What hides secrets of command lines and output: a token of a well-known provider is never shown,
// whatever stands around it, nor the value of an option that names a secret; and nothing grows.

#include "agent/frames/secrets.h"
#include "agent/frames/secret_names.h"

#include <algorithm>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace stepscope {
namespace {

constexpr std::string_view kToken = "hf_qwertyuiopasdfghjklzxcvbnm";

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char byte : text) {
    if (byte == '\0') {
      words.emplace_back();
    } else {
      words.back() += byte;
    }
  }
  return words;
}

void CheckText(const std::string& text) {
  const std::string clean = HideSecrets(text);
  Require(clean.size() <= 3 * text.size() + 3, "what is hidden takes no more than a sign each",
          text);
  for (const std::size_t at : {std::size_t{0}, text.size() / 2, text.size()}) {
    std::string with = text;
    with.insert(at, " " + std::string(kToken) + " ");
    Require(HideSecrets(with).find(kToken) == std::string::npos, "a token is hidden", with);
  }
}

void CheckWords(const std::vector<std::string>& words) {
  const auto clean = HideSecretWords(words);
  Require(clean.size() == words.size(), "no word is lost");
  for (const std::string& word : words) {
    if (word.starts_with('-') || !IsSecretValue(Sure::kAnyValue, word)) continue;
    Require(HideSecretWords({"--db-password", word})[1] == "***", "a password is hidden", word);
    Require(HideSecretWords({"--api-key=" + word})[0] == "--api-key=***", "a key is hidden", word);
  }
}

}  // namespace
}  // namespace stepscope

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  const std::string_view bytes = ToBytes(data, std::min<std::size_t>(size, 2048));
  CheckText(std::string(bytes));
  CheckWords(WordsOf(bytes));
  return 0;
}

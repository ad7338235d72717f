#include "agent/frames/secrets.h"

#include <algorithm>
#include <cctype>

#include "agent/frames/secret_names.h"
#include "agent/frames/secret_text.h"

namespace stepscope {
namespace {

using Names = std::span<const std::string>;

constexpr std::string_view kKeyLine = "PRIVATE KEY-----";
// From this length on a run of the characters of base64 is taken for a part of a key.
constexpr std::size_t kKeyRun = 60;

std::string HideAll(std::string text, bool words, Names more_names) {
  HideUrls(text);
  HideTokens(text);
  HideNamedValues(text, words, more_names);
  HideProgramOptions(text);
  return text;
}

bool IsBase64(char c) {
  return IsAlnum(c) || c == '+' || c == '/' || c == '=';
}

// A key's line, without its head or end to tell it by: long, and with letters of both cases, which
// no hash has.
void HideKeyRuns(std::string& line) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    std::size_t end = at;
    while (end < line.size() && IsBase64(line[end])) ++end;
    const std::string_view run = std::string_view(line).substr(at, end - at);
    const auto any = [&](int (*is)(int)) {
      return std::ranges::any_of(run, [&](unsigned char c) { return is(c) != 0; });
    };
    if (run.size() >= kKeyRun && any(std::isupper) && any(std::islower) && LooksRandom(run))
      line.replace(at, run.size(), kHidden), end = at + kHidden.size();
    at = end;
  }
}

// Whether all of it may be a line of a key: one word, of base64 or a head such as "Proc-Type: 4".
bool IsWithinKey(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == line.npos) return true;
  const std::string_view word = line.substr(begin);
  return std::ranges::all_of(word, IsBase64);
}

}  // namespace

std::string HideSecrets(std::string text, Names more_names) {
  if (text.find(kKeyLine) != text.npos) return std::string(kHidden);
  return HideAll(std::move(text), false, more_names);
}

std::vector<std::string> HideSecretLines(std::vector<std::string> lines, Names more_names) {
  bool within = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool edge = lines[i].find(kKeyLine) != lines[i].npos;
    const bool begins = edge && lines[i].rfind("-----BEGIN") != lines[i].npos;
    const bool ends = edge && lines[i].rfind("-----END") != lines[i].npos;
    // The head of the key may have been too long ago.
    for (std::size_t j = i; ends && !within && j-- > 0 && IsWithinKey(lines[j]);)
      lines[j] = kHidden;
    if (within || edge) {
      lines[i] = kHidden;
    } else {
      lines[i] = HideSecrets(std::move(lines[i]), more_names);
      HideKeyRuns(lines[i]);
    }
    within = (within || begins) && !ends;
  }
  return lines;
}

std::vector<std::string> HideSecretWords(std::vector<std::string> words, Names more_names) {
  if (words.empty()) return words;
  std::string text;
  for (std::string& word : words) {
    std::ranges::replace(word, kWordEnd, ' ');
    text += word;
    text += kWordEnd;
  }
  text.pop_back();
  text = HideAll(std::move(text), true, more_names);
  std::size_t at = 0;
  for (std::string& word : words) {
    const std::size_t end = std::min(text.find(kWordEnd, at), text.size());
    word = text.substr(at, end - at);
    if (word.find(kKeyLine) != word.npos) word = kHidden;
    at = end + 1;
  }
  return words;
}

}  // namespace stepscope

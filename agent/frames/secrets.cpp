#include "agent/frames/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace stepscope {
namespace {

using Names = std::span<const std::string>;

constexpr std::string_view kHidden = "***";

// The beginnings of well-known services' tokens, and how many characters follow at least.
struct TokenStart {
  std::string_view start;
  std::size_t least;
};
constexpr TokenStart kTokenStarts[] = {
    {"AKIA", 16},      {"ASIA", 16},     {"ghp_", 20},      {"gho_", 20},
    {"ghu_", 20},      {"ghs_", 20},     {"ghr_", 20},      {"github_pat_", 20},
    {"hf_", 20},       {"api_org_", 20}, {"glpat-", 20},    {"glrt-", 20},
    {"sk-", 20},       {"sk_live_", 16}, {"sk_test_", 16},  {"rk_live_", 16},
    {"xoxa-", 10},     {"xoxb-", 10},    {"xoxp-", 10},     {"xoxs-", 10},
    {"xapp-", 10},     {"whsec_", 10},   {"st_", 30},       {"eyJ", 30},
    {"AIza", 30},      {"ya29.", 20},    {"GOCSPX-", 20},   {"npm_", 20},
    {"pypi-", 20},     {"nvapi-", 20},   {"gsk_", 20},      {"r8_", 20},
    {"dapi", 30},      {"dop_v1_", 20},  {"hvs.", 20},      {"SG.", 30},
    {"dckr_pat_", 20}, {"lin_api_", 20}, {"wandb_v1_", 20}, {"AGE-SECRET-KEY-", 20},
};

// The parts of URLs behind which a secret stands.
constexpr std::string_view kSecretPaths[] = {"hooks.slack.com/services/", "/api/webhooks/",
                                             "webhook.office.com/"};

// How sure it is that the value behind a name is secret.
enum class Sure {
  kAnyValue,     // whatever it is
  kAfterBlank,   // and also when only a blank stands between name and value
  kIfNotNumber,  // counts have this name, too
  kIfRandom      // only where it looks as random as a key
};
struct SecretName {
  std::string_view name;
  Sure sure;
};
constexpr SecretName kSecretNames[] = {
    {"password", Sure::kAnyValue},    {"passwd", Sure::kAnyValue},
    {"passphrase", Sure::kAnyValue},  {"pwd", Sure::kIfNotNumber},
    {"secret", Sure::kAnyValue},      {"token", Sure::kIfNotNumber},
    {"apikey", Sure::kAnyValue},      {"api_key", Sure::kAnyValue},
    {"api-key", Sure::kAnyValue},     {"access_key", Sure::kAnyValue},
    {"access-key", Sure::kAnyValue},  {"accesskey", Sure::kAnyValue},
    {"accountkey", Sure::kAnyValue},  {"secret_key", Sure::kAnyValue},
    {"secret-key", Sure::kAnyValue},  {"access_key_id", Sure::kAnyValue},
    {"private_key", Sure::kAnyValue}, {"private-key", Sure::kAnyValue},
    {"credential", Sure::kAnyValue},  {"credentials", Sure::kAnyValue},
    {"signature", Sure::kIfRandom},   {"sig", Sure::kIfRandom},
    {"bearer", Sure::kAfterBlank},    {"authorization: basic", Sure::kAfterBlank},
    {"key", Sure::kIfRandom},         {"auth", Sure::kIfRandom},
    {"cookie", Sure::kIfRandom},      {"login", Sure::kIfRandom},
};

// Words before "token" that make it a piece of text and no secret.
constexpr std::string_view kTextTokens[] = {"pad",  "eos",  "bos",     "unk",   "sep",   "cls",
                                            "mask", "stop", "special", "image", "start", "end"};

bool IsAlnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool IsTokenByte(char c) {
  return IsAlnum(c) || std::string_view("_-./+=~").find(c) != std::string_view::npos;
}

bool IsNumber(std::string_view value) {
  const auto numeric = [](char c) { return c >= '0' && c <= '9'; };
  return value.size() < 10 && std::ranges::count_if(value, numeric) > 0 &&
         value.find_first_not_of("0123456789.,e+-kKmMbB%") == value.npos;
}

// Whether it looks as if it was drawn at random: long, of many different characters, and with
// letters and digits next to each other more often than in names such as layer10-attn. The entropy
// of its characters is Shannon's, in bits a character.
bool LooksRandom(std::string_view value) {
  if (value.size() < 16 || !std::ranges::all_of(value, IsTokenByte)) return false;
  if (value.find('.') != value.npos) return false;
  std::array<unsigned, 256> counts{};
  for (const char c : value) ++counts[static_cast<unsigned char>(c)];
  double bits = 0;
  for (const unsigned count : counts) {
    const double share = count / static_cast<double>(value.size());
    if (count > 0) bits -= share * std::log2(share);
  }
  const auto digit = [&](std::size_t at) { return value[at] >= '0' && value[at] <= '9'; };
  unsigned changes = 0;
  for (std::size_t i = 1; i < value.size(); ++i) {
    changes += digit(i) != digit(i - 1) && IsAlnum(value[i]) && IsAlnum(value[i - 1]) ? 1 : 0;
  }
  return changes >= 4 && bits >= 3;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

std::size_t RunOf(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && IsTokenByte(text[end])) ++end;
  return end - from;
}

void HideTokens(std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && IsAlnum(text[at - 1])) continue;
    for (const TokenStart& token : kTokenStarts) {
      if (text.compare(at, token.start.size(), token.start) != 0) continue;
      const std::size_t run = RunOf(text, at);
      if (run >= token.start.size() + token.least) text.replace(at, run, kHidden);
    }
  }
}

// "pad_token" in "--pad_token=<pad>", where the name ends at `end`.
bool IsTextToken(std::string_view lower, std::size_t begin) {
  if (begin == 0 || (lower[begin - 1] != '_' && lower[begin - 1] != '-')) return false;
  const std::string_view before = lower.substr(0, begin - 1);
  return std::ranges::any_of(kTextTokens, [&](auto word) { return before.ends_with(word); });
}

// Whether the word around `at` is an option: nothing but its value comes behind it.
bool IsWithinOption(std::string_view text, std::size_t at) {
  const std::size_t blank = text.find_last_of(" \t\n\"'", at);
  const std::size_t begin = blank == text.npos ? 0 : blank + 1;
  return begin + 1 < text.size() && text[begin] == '-' && text[begin + 1] == '-';
}

bool IsSecret(Sure sure, std::string_view value) {
  if (sure == Sure::kIfRandom) return LooksRandom(value);
  return sure != Sure::kIfNotNumber || (!IsNumber(value) && !value.starts_with('/'));
}

// Hides the value behind the name from `begin` to `end`: "name=value", "name": "value", "name
// value".
void HideValue(std::string& text, std::size_t begin, std::size_t end, Sure sure) {
  const auto quote = [&](std::size_t at) { return text[at] == '"' || text[at] == '\''; };
  std::size_t value = end;
  while (value < text.size() && quote(value)) ++value;
  const std::size_t separator = value;
  while (value < text.size() && (text.find_first_of("=: ", value) == value || quote(value)))
    ++value;
  if (value == separator || value >= text.size()) return;
  const bool said = text.find_first_of("=:", separator) < value;
  const bool quoted = value > separator && quote(value - 1);
  const std::size_t stop = std::min(
      quoted ? text.find(text[value - 1], value) : text.find_first_of(" \t\n\"'&,;", value),
      text.size());
  const std::string_view found = std::string_view(text).substr(value, stop - value);
  const bool option = !said && IsWithinOption(text, begin) && !found.starts_with('-');
  // Prose has these words too: without '=' or ':' only what looks like a secret is hidden.
  const bool likely =
      found.size() >= 12 && RunOf(text, value) == found.size() &&
      (sure == Sure::kAfterBlank || found.find_first_of("0123456789") != found.npos);
  if ((said || option || likely) && IsSecret(sure, found))
    text.replace(value, stop - value, kHidden);
}

void HideNamed(std::string& text, std::string_view name, Sure sure) {
  const std::string lower = Lower(text);
  // From the end on: what is replaced moves only what was looked at.
  for (std::size_t at = lower.rfind(name); at != lower.npos;
       at = at == 0 ? lower.npos : lower.rfind(name, at - 1)) {
    if (name == "token" && IsTextToken(lower, at)) continue;
    // "key" is the end of a name, and not of "monkey".
    const bool whole = at == 0 || !IsAlnum(lower[at - 1]) || sure != Sure::kIfRandom;
    if (whole) HideValue(text, at, at + name.size(), sure);
  }
}

// Hides the user and password in "scheme://user:password@host", and what stands behind the paths of
// webhooks.
void HideCredentials(std::string& text) {
  for (std::size_t at = text.find("://"); at != text.npos; at = text.find("://", at + 3)) {
    const std::size_t begin = at + 3;
    const std::size_t end = std::min(text.find_first_of(" /\"'?#\n", begin), text.size());
    std::size_t sign = text.rfind('@', end);
    const std::size_t colon = text.find(':', begin);
    // A password may have a '/': what stands behind the colon is no port then.
    if ((sign == text.npos || sign < begin) && colon < end && colon + 1 < end &&
        std::isdigit(static_cast<unsigned char>(text[colon + 1])) == 0) {
      const std::size_t last = std::min(text.find_first_of(" \"'\n", begin), text.size());
      sign = std::min(text.find('@', begin), last);
      if (sign == last) sign = text.npos;
    }
    if (sign != text.npos && sign > begin && sign < text.size())
      text.replace(begin, sign - begin, kHidden);
  }
  for (const std::string_view path : kSecretPaths) {
    for (std::size_t at = text.find(path); at != text.npos; at = text.find(path, at + 1)) {
      const std::size_t begin = at + path.size();
      const std::size_t end = std::min(text.find_first_of(" \"'\n", begin), text.size());
      if (end > begin) text.replace(begin, end - begin, kHidden);
    }
  }
}

// The name in "--name", "name=value" and "+group.name=value"; "" where the word is none.
std::string NameOfWord(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
    return IsAlnum(c) || std::string_view("_-.+").find(c) != std::string_view::npos;
  });
  return plain ? Lower(name) : "";
}

// Whether the value of this option is secret whatever it is: --*-key and *_KEY, too.
bool IsSecretOption(std::string_view name, Names more_names) {
  if (name.ends_with("token")) return !IsTextToken(name, name.size() - 5);
  // --pwd alone is a folder.
  if (name == "pwd" || name == "--pwd") return false;
  const auto ends = [&](const SecretName& one) {
    return name.ends_with(one.name) && one.sure != Sure::kIfRandom;
  };
  const auto holds = [&](const std::string& one) {
    return !one.empty() && name.find(Lower(one)) != name.npos;
  };
  for (const std::string_view part : {"key", "pass", "pw"}) {
    const std::size_t size = name.size() - std::min(name.size(), part.size());
    const char before = size > 0 ? name[size - 1] : '-';
    if (name.substr(size) == part && std::string_view("-_.").find(before) != part.npos) return true;
  }
  return std::ranges::any_of(kSecretNames, ends) || std::ranges::any_of(more_names, holds);
}

// Whether `word` is the value of the option `before`, which names a secret. A token may begin with
// '-', too; short words that do are options.
bool IsValueOf(const std::string& before, const std::string& word, Names more_names) {
  const bool another = word.starts_with("--") || (word.starts_with('-') && word.size() < 9);
  const bool option = before.starts_with('-') && before.find('=') == before.npos;
  return option && !another && IsSecretOption(NameOfWord(before), more_names);
}

// Hides the password in "-u NAME:PASSWORD" of `before` and `word`, and the key behind "login".
void HideAfter(const std::string& before, std::string& word) {
  if (before == "login" && LooksRandom(word)) word = kHidden;
  const std::size_t colon = word.find(':');
  if ((before == "-u" || before == "--user" || before == "--proxy-user") && colon != word.npos)
    word.replace(colon + 1, word.npos, kHidden);
}

}  // namespace

std::string HideSecrets(std::string text, Names more_names) {
  if (text.find("PRIVATE KEY-----") != text.npos) return std::string(kHidden);
  HideCredentials(text);
  HideTokens(text);
  for (const SecretName& each : kSecretNames) HideNamed(text, each.name, each.sure);
  for (const std::string& name : more_names) {
    if (!name.empty()) HideNamed(text, Lower(name), Sure::kAnyValue);
  }
  return text;
}

std::vector<std::string> HideSecretWords(std::vector<std::string> words, Names more_names) {
  std::string before;  // the previous word, not hidden
  for (std::string& word : words) {
    const std::string original = word;
    const std::size_t equals = word.find('=');
    if (IsValueOf(before, word, more_names)) {
      word = kHidden;
    } else if (equals != word.npos && equals + 1 < word.size() &&
               IsSecretOption(NameOfWord(word), more_names)) {
      word.replace(equals + 1, word.npos, kHidden);
    } else {
      word = HideSecrets(std::move(word), more_names);
      HideAfter(before, word);
    }
    before = original;
  }
  return words;
}

}  // namespace stepscope

#include "agent/frames/secret_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace stepscope {
namespace {

struct SecretName {
  std::string_view name;
  Sure sure;
  bool whole = false;  // a part of another word does not count
};
constexpr SecretName kSecretNames[] = {
    {"password", Sure::kAnyValue},      {"passwd", Sure::kAnyValue},
    {"passphrase", Sure::kAnyValue},    {"passcode", Sure::kAnyValue},
    {"pwd", Sure::kIfNotNumber},        {"secret", Sure::kAnyValue},
    {"secrets", Sure::kAnyValue},       {"apikey", Sure::kAnyValue},
    {"accesskey", Sure::kAnyValue},     {"accountkey", Sure::kAnyValue},
    {"authkey", Sure::kAnyValue},       {"sharedaccesskey", Sure::kAnyValue},
    {"access_key_id", Sure::kAnyValue}, {"credential", Sure::kAnyValue},
    {"credentials", Sure::kAnyValue},   {"creds", Sure::kAnyValue, true},
    {"cred", Sure::kAnyValue, true},    {"jwt", Sure::kAnyValue, true},
    {"sas", Sure::kAnyValue, true},     {"authorization", Sure::kAnyValue},
    {"bearer", Sure::kAfterBlank},      {"signature", Sure::kIfRandom, true},
    {"sig", Sure::kIfRandom, true},     {"key", Sure::kIfRandom, true},
    {"auth", Sure::kIfRandom, true},    {"cookie", Sure::kIfRandom, true},
    {"login", Sure::kIfRandom, true},   {"passwords", Sure::kAnyValue},
    {"passphrases", Sure::kAnyValue},   {"apikeys", Sure::kAnyValue},
    {"api_keys", Sure::kAnyValue},      {"api-keys", Sure::kAnyValue},
    {"access_keys", Sure::kAnyValue},   {"access-keys", Sure::kAnyValue},
    {"secret_keys", Sure::kAnyValue},   {"secret-keys", Sure::kAnyValue},
    {"auth_tokens", Sure::kAnyValue},   {"auth-tokens", Sure::kAnyValue},
    {"access_tokens", Sure::kAnyValue}, {"access-tokens", Sure::kAnyValue},
    {"api_tokens", Sure::kAnyValue},    {"api-tokens", Sure::kAnyValue},
    {"keys", Sure::kIfRandom, true},    {"tokens", Sure::kIfRandom, true},
};

// Words before "token" that make it a piece of text and no secret.
constexpr std::string_view kTextTokens[] = {
    "pad", "eos", "bos",   "unk", "sep", "cls", "mask", "stop", "special", "image",
    "end", "max", "start", "min", "num", "per", "new",  "next", "prefix",  "suffix"};
// Words before "pass" that make it a way through something.
constexpr std::string_view kWaysThrough[] = {"forward", "backward", "first", "second", "single",
                                             "low",     "high",     "band",  "one",    "two"};

// What may follow the part of a name that tells.
constexpr std::string_view kEndings[] = {"value", "b64", "base64", "hex", "string"};

// Values that say that there is none, or what kind it is.
constexpr std::string_view kNoValues[] = {"none", "null", "true", "false", "***", "undefined"};

bool IsSeparator(char c) {
  return c == '-' || c == '_' || c == '.';
}

// Whether the last part of `name`, behind one of `words`, has another meaning.
template <std::size_t kCount>
bool Follows(std::string_view name, std::string_view part,
             const std::string_view (&words)[kCount]) {
  name.remove_suffix(part.size());
  if (name.empty() || (name.back() != '_' && name.back() != '-')) return false;
  name.remove_suffix(1);
  return std::ranges::any_of(words, [&](auto word) { return name.ends_with(word); });
}

std::string_view WithoutEnding(std::string_view name) {
  for (const std::string_view ending : kEndings) {
    if (!name.ends_with(ending) || name.size() == ending.size()) continue;
    name.remove_suffix(ending.size());
    if (IsSeparator(name.back())) name.remove_suffix(1);
    return name;
  }
  return name;
}

// "key", "pass" and "pw" at the end of a name of several parts; alone they are ordinary words.
std::optional<Sure> SureOfPart(std::string_view name, std::string_view part,
                               const NamePlace& place) {
  const std::size_t size = name.size() - part.size();
  const bool key = part == "key";
  if (place.is_word || (size > 0 && (name[size - 1] == '-' || name[size - 1] == '_')))
    return Sure::kAnyValue;
  if (size == 0 && key) return Sure::kIfRandom;
  if (place.assigned) return Sure::kAnyValue;
  return key ? std::optional(Sure::kIfRandom) : std::nullopt;
}

bool IsHex(std::string_view value) {
  return std::ranges::all_of(value, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

std::optional<Sure> SureOfEnd(std::string_view name) {
  for (const SecretName& each : kSecretNames) {
    if (!name.ends_with(each.name)) continue;
    const std::size_t size = name.size() - each.name.size();
    if (!each.whole || size == 0 || !IsAlnum(name[size - 1])) return each.sure;
  }
  return std::nullopt;
}

}  // namespace

bool IsAlnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool IsTokenByte(char c) {
  return IsAlnum(c) || std::string_view("_-./+=~%").find(c) != std::string_view::npos;
}

bool IsNumber(std::string_view value) {
  const auto numeric = [](char c) { return c >= '0' && c <= '9'; };
  return value.size() < 10 && std::ranges::count_if(value, numeric) > 0 &&
         value.find_first_not_of("0123456789.,e+-kKmMbB%") == value.npos;
}

// Long, of many different characters, and with letters and digits next to each other more often
// than in names such as layer10-attn; or a long hexadecimal number. The entropy of its characters
// is Shannon's, in bits a character.
bool LooksRandom(std::string_view value) {
  if (value.size() >= 32 && IsHex(value)) return true;
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

std::optional<Sure> SureOf(std::string_view name, const NamePlace& place) {
  if (name == "--pwd") return std::nullopt;  // a folder
  const bool option = name.starts_with('-');
  name = WithoutEnding(name);
  if (name.ends_with("token")) {
    if (Follows(name, "token", kTextTokens)) return std::nullopt;
    return option || place.is_word ? Sure::kAnyValue : Sure::kIfNotNumber;
  }
  if (name.ends_with("pass") && Follows(name, "pass", kWaysThrough)) return std::nullopt;
  for (const std::string_view part : {"key", "pass", "pw"}) {
    if (!name.ends_with(part)) continue;
    const std::size_t size = name.size() - part.size();
    if (size == 0 || IsSeparator(name[size - 1])) return SureOfPart(name, part, place);
  }
  return SureOfEnd(name);
}

bool IsSecretValue(Sure sure, std::string_view value) {
  const auto is_value = [&](std::string_view word) {
    return std::ranges::equal(value, word, {}, [](unsigned char c) { return std::tolower(c); });
  };
  if (value.empty() || std::ranges::any_of(kNoValues, is_value)) return false;
  if (sure == Sure::kIfRandom) return LooksRandom(value);
  return sure != Sure::kIfNotNumber || (!IsNumber(value) && !value.starts_with('/'));
}

}  // namespace stepscope

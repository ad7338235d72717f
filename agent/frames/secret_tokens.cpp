// HideTokens and HideUrls of secret_text.h.

#include <algorithm>
#include <cctype>

#include "agent/frames/secret_names.h"
#include "agent/frames/secret_text.h"

namespace stepscope {
namespace {

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
    {"xoxr-", 10},     {"xoxe-", 10},    {"xoxe.", 10},     {"xapp-", 10},
    {"whsec_", 10},    {"st_", 30},      {"eyJ", 30},       {"AIza", 30},
    {"ya29.", 20},     {"GOCSPX-", 20},  {"npm_", 20},      {"pypi-", 20},
    {"nvapi-", 20},    {"gsk_", 20},     {"r8_", 20},       {"rpa_", 20},
    {"dapi", 30},      {"dop_v1_", 20},  {"hvs.", 20},      {"SG.", 30},
    {"dckr_pat_", 20}, {"lin_api_", 20}, {"wandb_v1_", 20}, {"AGE-SECRET-KEY-", 20},
    {"tskey-", 16},    {"xai-", 20},     {"pplx-", 20},     {"lsv2_", 20},
    {"pcsk_", 20},     {"glsa_", 20},    {"ATATT3", 20},    {"tgp_v1_", 20},
};

// The parts of URLs behind which a secret stands.
constexpr std::string_view kSecretPaths[] = {
    "hooks.slack.com/services/", "hooks.slack.com/workflows/",
    "hooks.slack.com/triggers/", "/api/webhooks/",
    "webhook.office.com/",       "api.telegram.org/bot"};

constexpr std::string_view kUrlEnd{" \t\r\n\"'\0", 7};
constexpr std::string_view kAuthorityEnd{" \t\r\n\"'\0/?#", 10};

std::size_t RunOf(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && IsTokenByte(text[end])) ++end;
  return end - from;
}

// Whether a token may begin here: not within a word, but behind "%3D" and behind "\n" as a text
// of a program has them.
bool BeginsWord(std::string_view text, std::size_t at) {
  if (at == 0 || !IsAlnum(text[at - 1])) return true;
  const auto hex = [&](std::size_t i) {
    return std::isxdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  if (at >= 3 && text[at - 3] == '%' && hex(at - 2) && hex(at - 1)) return true;
  return at >= 2 && text[at - 2] == '\\' && std::string_view("ntr").find(text[at - 1]) < 3;
}

// Whether "host" or "host:port" may stand here, rather than the rest of a password with an '@'.
bool IsHost(std::string_view text) {
  const std::string_view name = text.substr(0, text.find_first_of(":/?#"));
  const bool plain =
      std::ranges::all_of(name, [](char c) { return IsAlnum(c) || c == '.' || c == '-'; });
  return plain && (name.find('.') != name.npos || name == "localhost");
}

// The '@' behind the user and password of the URL whose authority begins at `begin`; npos where
// there are none. A password may have '@' and '/': the text goes on to the last '@' then.
std::size_t SignOf(std::string_view text, std::size_t begin) {
  const std::size_t authority = std::min(text.find_first_of(kAuthorityEnd, begin), text.size());
  const std::size_t last = std::min(text.find_first_of(kUrlEnd, begin), text.size());
  const std::size_t first = text.find('@', begin);
  const std::size_t colon = text.find(':', begin);
  if (first >= last) return text.npos;
  const bool named = colon < first && colon + 1 < last;
  if (first < authority) {
    const std::size_t sign = text.substr(0, authority).rfind('@');
    return named && !IsHost(text.substr(sign + 1, last - sign - 1))
               ? text.substr(0, last).rfind('@')
               : sign;
  }
  // Digits behind the colon of a host are its port.
  const bool port = named && std::isdigit(static_cast<unsigned char>(text[colon + 1])) != 0;
  return named && colon < authority && !port ? first : text.npos;
}

void HideCredentials(std::string& text) {
  for (std::size_t at = text.find("://"); at != text.npos; at = text.find("://", at + 3)) {
    const std::size_t begin = at + 3, sign = SignOf(text, begin);
    if (sign != text.npos && sign > begin) text.replace(begin, sign - begin, kHidden);
  }
}

}  // namespace

void HideTokens(std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!BeginsWord(text, at)) continue;
    for (const TokenStart& token : kTokenStarts) {
      if (text.compare(at, token.start.size(), token.start) != 0) continue;
      std::size_t run = RunOf(text, at);
      if (run < token.start.size() + token.least) continue;
      // The two keys of AWS often stand together.
      const bool pair = token.start == "AKIA" && at + run < text.size() && text[at + run] == ':';
      if (pair) run += 1 + RunOf(text, at + run + 1);
      text.replace(at, run, kHidden);
    }
  }
}

void HideUrls(std::string& text) {
  HideCredentials(text);
  for (const std::string_view path : kSecretPaths) {
    for (std::size_t at = text.find(path); at != text.npos; at = text.find(path, at + 1)) {
      const std::size_t begin = at + path.size();
      const std::size_t end = std::min(text.find_first_of(kUrlEnd, begin), text.size());
      if (end > begin) text.replace(begin, end - begin, kHidden);
    }
  }
}

}  // namespace stepscope

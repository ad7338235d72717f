// CleanOutputLine of output_tail.h.

#include <algorithm>
#include <cctype>

#include "agent/launch/output_tail.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::string_view kHidden = "***";

// The prefixes of well-known services' tokens, and how many characters follow at least.
struct TokenStart {
  std::string_view start;
  std::size_t least;
};
constexpr TokenStart kTokenStarts[] = {
    {"AKIA", 16}, {"ASIA", 16},   {"ghp_", 20}, {"gho_", 20},  {"ghs_", 20},  {"github_pat_", 20},
    {"hf_", 20},  {"glpat-", 20}, {"sk-", 20},  {"xoxb-", 10}, {"xoxp-", 10}, {"whsec_", 10},
    {"st_", 30},  {"eyJ", 30},    {"AIza", 30}, {"npm_", 20},  {"pypi-", 20},
};

// Names whose value is secret, in "name=value", "name: value" and "name value" of command lines.
constexpr std::string_view kSecretNames[] = {"password",   "passwd",      "pwd",     "secret",
                                             "token",      "apikey",      "api_key", "api-key",
                                             "access_key", "private_key", "bearer"};

bool IsTokenByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
         c == '/' || c == '+' || c == '=';
}

std::size_t RunOf(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && IsTokenByte(text[end])) ++end;
  return end - from;
}

// The end of the terminal sequence that starts at `from` with an escape.
std::size_t EndOfSequence(std::string_view text, std::size_t from) {
  std::size_t at = from + 1;
  if (at >= text.size()) return at;
  const char kind = text[at++];
  if (kind == '[') {
    while (at < text.size() && (text[at] < 0x40 || text[at] > 0x7e)) ++at;
    return std::min(at + 1, text.size());
  }
  if (kind != ']') return at;
  while (at < text.size() && text[at] != '\a' && text[at] != '\x1b') ++at;
  return std::min(at + 1, text.size());
}

std::string WithoutControl(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '\x1b') {
      i = EndOfSequence(line, i);
      continue;
    }
    const auto byte = static_cast<unsigned char>(line[i++]);
    if (byte == '\t') text += ' ';
    if (byte >= 0x20 && byte != 0x7f) text += static_cast<char>(byte);
  }
  return ValidUtf8(text);
}

void HideTokens(std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) continue;
    for (const TokenStart& token : kTokenStarts) {
      if (text.compare(at, token.start.size(), token.start) != 0) continue;
      const std::size_t run = RunOf(text, at);
      if (run >= token.start.size() + token.least) text.replace(at, run, kHidden);
    }
  }
}

// Hides the value behind the name that ends at `end`: "name=value", "name": "value", "name value".
void HideValue(std::string& text, std::size_t end) {
  std::size_t value = end;
  while (value < text.size() && (text[value] == '"' || text[value] == '\'')) ++value;
  const std::size_t separator = value;
  while (value < text.size() && (text[value] == '=' || text[value] == ':' || text[value] == ' ' ||
                                 text[value] == '"' || text[value] == '\'')) {
    ++value;
  }
  if (value == separator || value >= text.size()) return;
  const bool said = text.find_first_of("=:", separator) < value;
  const std::size_t stop = std::min(text.find_first_of(" \"'&,;", value), text.size());
  // Prose has these words too: without '=' or ':' only a value that looks like a secret is hidden.
  if (!said && (stop - value < 12 || RunOf(text, value) != stop - value)) return;
  text.replace(value, stop - value, kHidden);
}

void HideNamed(std::string& text) {
  for (const std::string_view name : kSecretNames) {
    std::string lower = text;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    for (std::size_t at = lower.rfind(name); at != lower.npos;
         at = at == 0 ? lower.npos : lower.rfind(name, at - 1)) {
      HideValue(text, at + name.size());
    }
  }
}

// Hides the user and password in "scheme://user:password@host".
void HideCredentials(std::string& text) {
  for (std::size_t at = text.find("://"); at != text.npos; at = text.find("://", at + 3)) {
    const std::size_t end = std::min(text.find_first_of(" /\"'?#", at + 3), text.size());
    const std::size_t sign = text.rfind('@', end);
    if (sign != text.npos && sign > at + 3 && sign < end) {
      text.replace(at + 3, sign - at - 3, kHidden);
    }
  }
}

}  // namespace

std::string CleanOutputLine(std::string_view line) {
  std::string text = WithoutControl(line);
  HideCredentials(text);
  HideTokens(text);
  HideNamed(text);
  if (text.find("PRIVATE KEY-----") != text.npos) return std::string(kHidden);
  return text;
}

}  // namespace stepscope

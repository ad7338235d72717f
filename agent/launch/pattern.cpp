#include "agent/launch/pattern.h"

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestPattern = 512;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

Result<std::string> Portable(std::string_view pattern) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (pattern[i] != '\\') {
      text += pattern[i];
      continue;
    }
    if (IsDigit(next)) return Invalid(Format("'\\{}' is not understood", next));
    ++i;
    text += next == 'd' ? "[0-9]" : Format("\\{}", next);
  }
  return text;
}

}  // namespace

Result<Pattern> Pattern::Parse(std::string_view text) {
  if (text.size() > kLongestPattern || text.find('\0') != text.npos) {
    return Invalid("the pattern is too long");
  }
  const auto portable = Portable(text);
  if (!portable) return portable.error();
  auto regex = std::make_unique<regex_t>();
  const int failed = regcomp(regex.get(), portable->c_str(), REG_EXTENDED | REG_NEWLINE);
  if (failed != 0) {
    char why[128];
    regerror(failed, regex.get(), why, sizeof why);
    return Invalid(why);
  }
  Pattern pattern;
  pattern.regex_.reset(regex.release());
  return pattern;
}

bool Pattern::Fits(const std::string& text) const {
  return regexec(regex_.get(), text.c_str(), 0, nullptr, 0) == 0;
}

std::optional<std::string_view> Pattern::Group(const std::string& text) const {
  regmatch_t found[2];
  if (regexec(regex_.get(), text.c_str(), 2, found, 0) != 0 || found[1].rm_so < 0) {
    return std::nullopt;
  }
  const auto begin = static_cast<std::size_t>(found[1].rm_so);
  return std::string_view(text).substr(begin, static_cast<std::size_t>(found[1].rm_eo) - begin);
}

}  // namespace stepscope

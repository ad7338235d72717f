#include "server/store/schema/sql_statements.h"

#include <algorithm>
#include <cctype>

#include "core/base/text.h"

namespace stepscope {
namespace {

// The place behind `end`, searched from `from` on; the end of the text where there is none.
std::size_t Behind(std::string_view text, std::string_view end, std::size_t from) {
  const std::size_t found = text.find(end, from);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

// "$$" or "$name$" at this place; empty where it is a parameter or something else.
std::string_view DollarQuote(std::string_view text, std::size_t at) {
  const std::size_t second = text.find('$', at + 1);
  if (second == std::string_view::npos) return {};
  const std::string_view name = text.substr(at + 1, second - at - 1);
  const auto is_part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  const bool starts_well = name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) == 0;
  const bool quotes = starts_well && std::ranges::all_of(name, is_part);
  return quotes ? text.substr(at, second + 1 - at) : std::string_view();
}

// The place behind the string, name, body or comment that begins here, or behind one character.
std::size_t BehindToken(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '\'' || c == '"') return Behind(text, std::string_view(&c, 1), at + 1);
  if (text.substr(at, 2) == "--") return Behind(text, "\n", at);
  if (text.substr(at, 2) == "/*") return Behind(text, "*/", at + 2);
  if (c != '$') return at + 1;
  const std::string_view quote = DollarQuote(text, at);
  return quote.empty() ? at + 1 : Behind(text, quote, at + quote.size());
}

bool HasContent(std::string_view statement) {
  for (std::size_t at = 0; at < statement.size(); at = BehindToken(statement, at)) {
    const bool comment = statement.substr(at, 2) == "--" || statement.substr(at, 2) == "/*";
    if (!comment && std::isspace(static_cast<unsigned char>(statement[at])) == 0) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string_view> SqlStatements(std::string_view script) {
  std::vector<std::string_view> statements;
  std::size_t from = 0;
  for (std::size_t at = 0; at <= script.size();) {
    if (at < script.size() && script[at] != ';') {
      at = BehindToken(script, at);
      continue;
    }
    const std::string_view statement = Trim(script.substr(from, at - from));
    if (HasContent(statement)) statements.push_back(statement);
    from = ++at;
  }
  return statements;
}

}  // namespace stepscope

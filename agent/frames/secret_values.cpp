// HideNamedValues of secret_text.h.

#include <algorithm>
#include <cctype>

#include "agent/frames/secret_names.h"
#include "agent/frames/secret_text.h"

namespace stepscope {
namespace {

using Names = std::span<const std::string>;

constexpr std::string_view kValueEnd{" \t\r\n\"'&,;\0", 10};
// How a value of "Authorization" begins.
constexpr std::string_view kSchemes[] = {"basic ",  "bearer ",    "token ",           "apikey ",
                                         "digest ", "negotiate ", "aws4-hmac-sha256 "};

bool IsNameByte(char c) {
  const bool ascii = static_cast<unsigned char>(c) < 0x80;
  return !ascii || IsAlnum(c) || c == '_' || c == '-' || c == '.' || c == '+';
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

// The text between a name and its value.
struct Between {
  std::size_t value = 0;   // where the value begins
  bool said = false;       // by '=' or ':'
  bool assigned = false;   // '=' follows at once, or what is said stands behind quotes
  bool listed = false;     // as elements of a list, each in quotes
  bool next_word = false;  // the value is the next argument
  bool any = false;        // something stands between
};

// Skips quotes that may be escaped, for a text within a text.
std::size_t SkipQuotes(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && (text[end] == '\\' || IsQuote(text[end]))) ++end;
  return end > at && IsQuote(text[end - 1]) ? end : at;
}

// The quote of a value, with the letter before it as Python has it.
std::size_t SkipOpening(std::string_view text, std::size_t at) {
  const bool letter = at + 1 < text.size() && IsQuote(text[at + 1]) &&
                      std::string_view("bBrRfFuU").find(text[at]) != std::string_view::npos;
  return SkipQuotes(text, letter ? at + 1 : at);
}

Between Read(std::string_view text, std::size_t name_end) {
  Between between;
  std::size_t at = SkipQuotes(text, name_end);
  const bool quoted = at > name_end;
  if (quoted && at < text.size() && text[at] == ']') ++at;
  const std::size_t from = at;
  bool comma = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '=' || c == ':' || (c == '>' && between.said)) {
      between.assigned = between.assigned || quoted || (c == '=' && at == from);
      between.said = true;
    } else if (c == ',' && quoted && !comma && !between.said) {
      comma = true;
    } else if (c == kWordEnd && at == name_end) {
      between.next_word = true;
      ++at;
      break;
    } else if (c != ' ' && c != '\t') {
      break;
    }
  }
  between.any = at > from;
  between.value = between.next_word ? at : SkipOpening(text, at);
  between.listed = comma && between.value > at;
  if (comma && !between.listed) between.any = false;
  return between;
}

// How a usage shows an option: "[--api-key API_KEY]".
bool IsPlaceholder(std::string_view name, std::string_view value) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  while (value.ends_with(']') || value.ends_with('.')) value.remove_suffix(1);
  return std::ranges::equal(name, value, [](char a, char b) {
    return std::toupper(static_cast<unsigned char>(a == '-' ? '_' : a)) == b;
  });
}

// Prose has these words too: without '=' or ':' only what looks like a secret is hidden.
bool LooksSecret(Sure sure, std::string_view value) {
  if (value.size() < 12 || !std::ranges::all_of(value, IsTokenByte)) return false;
  const auto has = [&](int (*is)(int)) {
    return std::ranges::any_of(value, [&](unsigned char c) { return is(c) != 0; });
  };
  if (sure == Sure::kAfterBlank || has(std::isdigit)) return true;
  return value.size() >= 24 && value.find_first_of("./-_") == value.npos && has(std::isupper) &&
         has(std::islower);
}

// A token may begin with '-', too; short words that do are options.
bool IsAnotherOption(std::string_view value) {
  return value.starts_with("--") || (value.starts_with('-') && value.size() < 9);
}

bool Hides(std::string_view name, Sure sure, const Between& between, std::string_view value) {
  if (!IsSecretValue(sure, value)) return false;
  if (between.said) return true;
  if (name.starts_with('-'))
    return !IsAnotherOption(value) && (between.next_word || !IsPlaceholder(name, value));
  if (between.listed) return LooksRandom(value);
  // "key" and its like end many names, of which text speaks.
  const bool key =
      name.ends_with("key") && !name.ends_with("access_key") && !name.ends_with("api_key");
  return LooksSecret(sure, value) && (!key || LooksRandom(value));
}

// Where the further values of a list end whose first one ends at `stop`: "a,b" behind an option, or
// behind the plural of a name.
std::size_t EndOfList(std::string_view text, std::size_t stop) {
  while (stop + 1 < text.size() && text[stop] == ',' && !IsBlank(text[stop + 1]) &&
         !IsQuote(text[stop + 1]))
    stop = EndOfValue(text, stop + 1);
  return stop;
}

class NamedValues {
 public:
  NamedValues(std::string& text, bool words, Names more_names)
      : text_(text), words_(words), more_names_(more_names) {}

  void Hide() {
    for (std::size_t at = 0; at < text_.size();) {
      std::size_t end = at;
      while (end < text_.size() && IsNameByte(text_[end])) ++end;
      if (end > at) HideBehind(at, end);
      at = std::max(end, at + 1);
    }
  }

 private:
  bool BeginsWord(std::size_t at) const { return words_ && (at == 0 || text_[at - 1] == kWordEnd); }

  std::optional<Sure> SureOfName(std::string_view name, std::size_t begin,
                                 const Between& between) const {
    const auto holds = [&](const std::string& part) {
      return !part.empty() && name.find(Lower(part)) != name.npos;
    };
    if (std::ranges::any_of(more_names_, holds)) return Sure::kAnyValue;
    const bool is_word = BeginsWord(begin) && between.assigned;
    return SureOf(name, {.assigned = between.assigned, .is_word = is_word});
  }

  void HideBehind(std::size_t begin, std::size_t end) {
    Between between = Read(text_, end);
    // An argument that is an assignment is its value to the end.
    const bool whole = BeginsWord(begin) && end < text_.size() && text_[end] == '=';
    if (whole) between.value = end + 1;
    if (!between.any || between.value >= text_.size()) return;
    const std::string name = Lower(std::string_view(text_).substr(begin, end - begin));
    auto sure = SureOfName(name, begin, between);
    if (!sure) return;
    if (between.next_word && !name.starts_with('-')) return;
    std::size_t value = between.value;
    if (name.ends_with("authorization")) value = BehindScheme(value);
    std::size_t stop =
        whole ? std::min(text_.find(kWordEnd, value), text_.size()) : EndOfValue(text_, value);
    if (name.starts_with('-') || name.ends_with('s')) stop = EndOfList(text_, stop);
    const std::string_view found = std::string_view(text_).substr(value, stop - value);
    const bool in_query = begin > 0 && (text_[begin - 1] == '?' || text_[begin - 1] == '&');
    if (in_query && found.size() >= 16) sure = Sure::kAnyValue;
    if (Hides(name, *sure, between, found)) text_.replace(value, stop - value, kHidden);
  }

  std::size_t BehindScheme(std::size_t value) const {
    for (const std::string_view scheme : kSchemes) {
      if (Lower(std::string_view(text_).substr(value, scheme.size())) == scheme)
        return value + scheme.size();
    }
    return value;
  }

  std::string& text_;
  const bool words_;
  const Names more_names_;
};

}  // namespace

bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == kWordEnd;
}

bool IsQuote(char c) {
  return c == '"' || c == '\'';
}

std::size_t EndOfValue(std::string_view text, std::size_t begin) {
  const std::size_t word_end = std::min(text.find(kWordEnd, begin), text.size());
  const char before = begin > 0 ? text[begin - 1] : ' ';
  if (before == kWordEnd) return word_end;
  if (!IsQuote(before)) return std::min(text.find_first_of(kValueEnd, begin), text.size());
  const bool escaped = begin > 1 && text[begin - 2] == '\\';
  for (std::size_t at = text.find(before, begin); at < word_end; at = text.find(before, at + 1)) {
    const bool another = at > begin && text[at - 1] == '\\';
    if (escaped && another) return at - 1;
    if (escaped || !another) return at;
  }
  return word_end;
}

void HideNamedValues(std::string& text, bool words, std::span<const std::string> more_names) {
  NamedValues(text, words, more_names).Hide();
}

}  // namespace stepscope

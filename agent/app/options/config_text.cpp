#include "agent/app/options/config_text.h"

#include <cctype>
#include <charconv>
#include <utility>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kMostValues = 64;

bool IsKeyByte(char c) {
  return c > 0 && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-');
}

bool IsControl(char c) {
  return (c >= 0 && c < 0x20) || c == 0x7f;
}

// Goes through the text once; `Peek` is NUL at its end.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  int line() const { return line_; }
  bool AtEnd() const { return at_ == text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }

  char Next() {
    const char c = Peek();
    at_ += AtEnd() ? 0 : 1;
    line_ += c == '\n' ? 1 : 0;
    return c;
  }

  bool Take(char c) {
    const bool there = !AtEnd() && Peek() == c;
    if (there) Next();
    return there;
  }

  std::string TakeWord() {
    const std::size_t from = at_;
    while (IsKeyByte(Peek())) Next();
    return std::string(text_.substr(from, at_ - from));
  }

  void SkipBlanks() {
    while (Peek() == ' ' || Peek() == '\t') Next();
  }

  // Skips blanks, a comment and the line end; false when anything else is on the line.
  bool TakeLineEnd() {
    SkipBlanks();
    if (Peek() == '#') {
      while (!IsControl(Peek()) || Peek() == '\t') Next();
    }
    if (Take('\r') && Peek() != '\n') return false;
    return AtEnd() || Take('\n');
  }

  // Skips lines without an entry.
  void SkipEmptyLines() {
    SkipBlanks();
    while ((Peek() == '#' || Peek() == '\r' || Peek() == '\n') && TakeLineEnd()) SkipBlanks();
  }

  Error Wrong(std::string_view what) const { return Invalid(Format("{}: {}", line_, what)); }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

// In "..." a backslash escapes '"' and itself; in '...' it is an ordinary character.
Result<std::string> TakeText(Reader& reader) {
  const char quote = reader.Next();
  std::string text;
  while (reader.Peek() != quote) {
    if (IsControl(reader.Peek())) return reader.Wrong("a text in quotes is not closed on its line");
    char c = reader.Next();
    if (c == '\\' && quote == '"') {
      c = reader.Next();
      if (c != '"' && c != '\\') {
        return reader.Wrong(R"(in "..." a '\' is written '\\'; in '...' it stands for itself)");
      }
    }
    text += c;
    if (text.size() > kLongestText) return reader.Wrong("the text is too long");
  }
  reader.Next();
  if (ValidUtf8(text) != text) return reader.Wrong("the text is not UTF-8");
  return text;
}

bool IsQuote(char c) {
  return c == '"' || c == '\'';
}

Status TakeList(Reader& reader, ConfigEntry& entry) {
  reader.Next();
  for (reader.SkipEmptyLines(); !reader.Take(']'); reader.SkipEmptyLines()) {
    if (!IsQuote(reader.Peek()))
      return reader.Wrong("a list holds texts in quotes, and ends with ']'");
    auto text = TakeText(reader);
    if (!text) return text.error();
    entry.values.push_back(std::move(*text));
    if (entry.values.size() > kMostValues) return reader.Wrong("the list is too long");
    reader.SkipEmptyLines();
    if (!reader.Take(',') && reader.Peek() != ']') {
      return reader.Wrong("between the texts of a list stands a comma");
    }
  }
  return {};
}

// The digits behind the point of a number, with the point; "" where there is none.
std::string TakeFraction(Reader& reader) {
  if (reader.Peek() != '.') return "";
  std::string fraction(1, reader.Next());
  while (reader.Peek() >= '0' && reader.Peek() <= '9') fraction += reader.Next();
  return fraction;
}

// A whole number that TOML and the command line both accept: without a plus sign or leading zeros.
bool IsNumber(std::string_view word) {
  const std::string_view digits = word.substr(word.starts_with('-') ? 1 : 0);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  return whole && (digits.size() == 1 || !digits.starts_with('0'));
}

Status TakeValue(Reader& reader, ConfigEntry& entry) {
  if (reader.Peek() == '[') {
    entry.type = ConfigEntry::Type::kList;
    return TakeList(reader, entry);
  }
  if (IsQuote(reader.Peek())) {
    auto text = TakeText(reader);
    if (!text) return text.error();
    entry.values.push_back(std::move(*text));
    return {};
  }
  std::string word = reader.TakeWord();
  const bool is_switch = word == "true" || word == "false";
  if (!is_switch && !IsNumber(word)) {
    return reader.Wrong(Format("the value of '{}' must stand in quotes", Printable(entry.key, 60)));
  }
  if (!is_switch) {
    const std::string fraction = TakeFraction(reader);
    if (fraction == ".") return reader.Wrong("digits are wanted on both sides of the point");
    word += fraction;
  }
  entry.type = is_switch ? ConfigEntry::Type::kSwitch : ConfigEntry::Type::kNumber;
  entry.values.push_back(std::move(word));
  return {};
}

Result<ConfigEntry> TakeEntry(Reader& reader) {
  ConfigEntry entry{.key = reader.TakeWord(), .line = reader.line()};
  if (entry.key.empty() && reader.Peek() == '[') {
    return reader.Wrong("there are no sections here: every key stands by itself");
  }
  reader.SkipBlanks();
  if (entry.key.empty() || !reader.Take('=')) return reader.Wrong("not of the form: key = value");
  reader.SkipBlanks();
  if (Status taken = TakeValue(reader, entry); !taken) return taken.error();
  const Error more =
      reader.Wrong(Format("more stands behind the value of '{}'", Printable(entry.key, 60)));
  if (!reader.TakeLineEnd()) return more;
  return entry;
}

}  // namespace

Result<std::vector<ConfigEntry>> ParseConfigText(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Reader reader(text);
  std::vector<ConfigEntry> entries;
  for (reader.SkipEmptyLines(); !reader.AtEnd(); reader.SkipEmptyLines()) {
    auto entry = TakeEntry(reader);
    if (!entry) return entry.error();
    entries.push_back(std::move(*entry));
  }
  return entries;
}

}  // namespace stepscope

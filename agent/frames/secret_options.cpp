// HideProgramOptions of secret_text.h.

#include <algorithm>

#include "agent/frames/secret_names.h"
#include "agent/frames/secret_text.h"

namespace stepscope {
namespace {

// Programs with a password in an option whose name says nothing.
struct PasswordOption {
  std::string_view program;
  std::string_view option;
  bool after_login;  // only of its command "login"
  bool separate;     // the password may be a word of its own
};
constexpr PasswordOption kPasswordOptions[] = {
    {"sshpass", "-p", false, true},     {"docker", "-p", true, true},
    {"podman", "-p", true, true},       {"nerdctl", "-p", true, true},
    {"helm", "-p", true, true},         {"mysql", "-p", false, false},
    {"mariadb", "-p", false, false},    {"mysqldump", "-p", false, false},
    {"mysqladmin", "-p", false, false},
};
// Options with NAME:PASSWORD.
constexpr std::string_view kUserOptions[] = {"-u",     "--user",  "--proxy-user",
                                             "--auth", "--login", "--basic-auth"};

constexpr std::string_view kCommandEnd = ";|&\n`";

bool IsWordByte(char c) {
  return !IsBlank(c) && !IsQuote(c) &&
         std::string_view(";|&`,()[]").find(c) == std::string_view::npos;
}

class ProgramOptions {
 public:
  explicit ProgramOptions(std::string& text) : text_(text) {}

  void Hide() {
    for (std::size_t at = 0; at < text_.size();) {
      if (!IsWordByte(text_[at])) {
        if (kCommandEnd.find(text_[at++]) != kCommandEnd.npos) program_ = {}, login_ = false;
        continue;
      }
      std::size_t end = at;
      while (end < text_.size() && IsWordByte(text_[end])) ++end;
      at = Take(at, end);
    }
  }

 private:
  // Takes the word from `begin` to `end`; returns where the next one is looked for.
  std::size_t Take(std::size_t begin, std::size_t end) {
    const std::string_view word = std::string_view(text_).substr(begin, end - begin);
    if (Learn(word)) return end;
    if (login_ && LooksRandom(word)) return HideFrom(begin, end);
    const std::size_t equals = word.find('=');
    const std::string_view option = word.substr(0, equals);
    if (std::ranges::count(kUserOptions, option) > 0)
      return HidePassword(equals == word.npos ? NextWord(end) : begin + equals + 1, end);
    if (program_ == "curl" && word.starts_with("-u")) return HidePassword(begin + 2, end);
    for (const PasswordOption& each : kPasswordOptions) {
      if (each.program != program_ || (each.after_login && !login_)) continue;
      if (!word.starts_with(each.option)) continue;
      if (word.size() > each.option.size()) return HideFrom(begin + each.option.size(), end);
      if (!each.separate) continue;
      const std::size_t value = std::min(NextWord(end), text_.size());
      const std::size_t stop = EndOfValue(text_, value);
      if (value < stop) return HideFrom(value, stop);
    }
    return end;
  }

  // Whether the word is a program of the table, or its command "login".
  bool Learn(std::string_view word) {
    const std::string_view name = word.substr(word.rfind('/') + 1);
    const bool known =
        name == "curl" || std::ranges::count(kPasswordOptions, name, &PasswordOption::program) > 0;
    if (known) program_ = name;
    login_ = login_ || word == "login";
    return known || word == "login";
  }

  // Where the value of an option begins that ends at `end`: behind a blank, or as the next element
  // of a list.
  std::size_t NextWord(std::size_t end) const {
    while (end < text_.size() && IsQuote(text_[end])) ++end;
    if (end < text_.size() && text_[end] == kWordEnd) return end + 1;
    while (end < text_.size() && (text_[end] == ' ' || text_[end] == ',')) ++end;
    while (end < text_.size() && IsQuote(text_[end])) ++end;
    return end;
  }

  // Hides what stands behind the ':' of the value at `value`, but of numbers: those of a user and a
  // group. `otherwise` is where to go on where there is nothing to hide.
  std::size_t HidePassword(std::size_t value, std::size_t otherwise) {
    if (value >= text_.size()) return otherwise;
    const std::size_t stop = EndOfValue(text_, value);
    const std::size_t colon = text_.find(':', value);
    if (colon >= stop || colon + 1 == stop) return otherwise;
    const std::string_view user = std::string_view(text_).substr(value, colon - value);
    if (IsNumber(user) || user.find('/') != user.npos) return otherwise;
    return HideFrom(colon + 1, stop);
  }

  std::size_t HideFrom(std::size_t begin, std::size_t end) {
    text_.replace(begin, end - begin, kHidden);
    return begin + kHidden.size();
  }

  std::string& text_;
  std::string program_;
  bool login_ = false;
};

}  // namespace

void HideProgramOptions(std::string& text) {
  ProgramOptions(text).Hide();
}

}  // namespace stepscope

#include "agent/send/token.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongest = 512;

// A token is put into a header unchanged, so it must be visible characters only.
Result<std::string> CheckToken(std::string_view text, std::string_view where) {
  const bool visible = std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!text.empty() && text.size() <= kLongest && visible) return std::string(text);
  return Invalid(Format("{} must hold one token and nothing else", where));
}

}  // namespace

Result<std::string> ReadToken(const std::string& path) {
  std::ifstream file(path);
  std::string text(1025, '\0');
  if (!file) return Invalid(Format("token file '{}' cannot be read", Printable(path)));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return CheckToken(Trim(text), Format("token file '{}'", Printable(path)));
}

Status CheckPrivate(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || (status.st_mode & S_IRWXO) == 0) return {};
  return Invalid(Format("every user of this machine may read '{}'; chmod 600 keeps it yours",
                        Printable(path)));
}

Result<Token> Token::Make(const std::string& file, const std::string& value) {
  Token token;
  token.file_ = file;
  if (file.empty() && value.empty()) return token;
  auto text = file.empty() ? CheckToken(Trim(value), "STEPSCOPE_TOKEN") : ReadToken(file);
  if (!text) return text.error();
  token.text_ = std::move(*text);
  return token;
}

bool Token::Refresh() {
  if (file_.empty()) return false;
  auto text = ReadToken(file_);
  if (!text || *text == text_) return false;
  text_ = std::move(*text);
  return true;
}

}  // namespace stepscope

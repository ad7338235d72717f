#include "agent/app/options/name_patterns.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestNamePattern = 128;

struct Piece {
  enum Kind { kText, kAnyText, kAnyCharacter } kind = kText;
  char character = 0;
};

// The value of a word in braces; none for a word that is not known.
std::optional<std::string> ValueOf(std::string_view word, const Account& account) {
  if (word == "{user}") return account.user;
  if (word == "{group}") return account.group;
  if (word == "{uid}") return Format("{}", account.uid);
  return std::nullopt;
}

// The pattern as it is for this account: a name is text, whatever is in it. None where a word is
// not known or the account has no such name.
std::optional<std::vector<Piece>> PiecesOf(std::string_view pattern, const Account& account) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{') {
      const std::string_view word = pattern.substr(i, pattern.find('}', i) - i + 1);
      const auto value = ValueOf(word, account);
      if (!value || value->empty()) return std::nullopt;
      for (const char each : *value) pieces.push_back({Piece::kText, each});
      i += word.size() - 1;
    } else if (pattern[i] == '*') {
      pieces.push_back({Piece::kAnyText});
    } else {
      pieces.push_back({pattern[i] == '?' ? Piece::kAnyCharacter : Piece::kText, pattern[i]});
    }
  }
  return pieces;
}

// Goes back to the newest '*' alone, so it takes at most as many steps as text and pattern have
// characters, multiplied.
bool Fits(const std::vector<Piece>& pieces, std::string_view text) {
  std::size_t piece = 0, at = 0, star = pieces.size(), star_at = 0;
  while (at < text.size()) {
    const bool any = piece < pieces.size() && pieces[piece].kind == Piece::kAnyText;
    if (any) {
      star = piece++;
      star_at = at;
    } else if (piece < pieces.size() && (pieces[piece].kind == Piece::kAnyCharacter ||
                                         pieces[piece].character == text[at])) {
      ++piece, ++at;
    } else if (star < pieces.size()) {
      piece = star + 1;
      at = ++star_at;
    } else {
      return false;
    }
  }
  while (piece < pieces.size() && pieces[piece].kind == Piece::kAnyText) ++piece;
  return piece == pieces.size();
}

Status CheckPattern(std::string_view pattern) {
  const std::string shown = Printable(pattern, 80);
  if (pattern.empty() || pattern.size() > kLongestNamePattern) {
    return Invalid(Format("'{}' has {} characters, allowed are 1 to {}", shown, pattern.size(),
                          kLongestNamePattern));
  }
  if (!PiecesOf(pattern, {.uid = 0, .user = "user", .group = "group"})) {
    return Invalid(Format("'{}' has braces around other words than user, group, uid", shown));
  }
  const auto strange = [](char each) {
    return std::isalnum(static_cast<unsigned char>(each)) == 0 &&
           std::string_view("-*?{}").find(each) == std::string_view::npos;
  };
  if (std::ranges::any_of(pattern, strange)) {
    return Invalid(Format("'{}' has a character that no job's name has", shown));
  }
  return {};
}

}  // namespace

Result<NamePatterns> NamePatterns::Parse(std::string_view text) {
  NamePatterns patterns;
  if (text.empty()) return patterns;
  for (const std::string_view each : Split(text, ',')) {
    if (Status good = CheckPattern(each); !good) return good.error();
    patterns.patterns_.emplace_back(each);
  }
  return patterns;
}

Status NamePatterns::Check(std::string_view job, const Account& account) const {
  const auto allows = [&](const std::string& pattern) {
    const auto pieces = PiecesOf(pattern, account);
    return pieces && Fits(*pieces, job);
  };
  if (AllowEvery() || std::ranges::any_of(patterns_, allows)) return {};
  std::string all;
  for (const std::string& each : patterns_) all += (all.empty() ? "" : ", ") + each;
  const std::string who = account.user.empty() ? "without a name" : account.user;
  return Invalid(Format("job {} is no name for user {} ({}): --job-names allows {}",
                        Printable(job, 64), account.uid, Printable(who, 40), Printable(all, 200)));
}

}  // namespace stepscope

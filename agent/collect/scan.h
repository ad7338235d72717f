#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stepscope {

// Parses the kernel's text files without copying: each function takes its part off the front.

// Takes the next line, without its end. False at the end of the text.
inline bool TakeLine(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const std::size_t end = text.find('\n');
  line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return true;
}

// Takes the next word between blanks; "" at the end. A loop, since the words are short:
// find_first_of calls a function for each character.
inline std::string_view TakeWord(std::string_view& line) {
  const auto blank = [&](std::size_t at) { return line[at] == ' ' || line[at] == '\t'; };
  std::size_t begin = 0;
  while (begin < line.size() && blank(begin)) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !blank(end)) ++end;
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

// Takes the next word as a whole number; nothing when it is none or does not fit.
inline std::optional<std::uint64_t> TakeNumber(std::string_view& line) {
  const std::string_view word = TakeWord(line);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

}  // namespace stepscope

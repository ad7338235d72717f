// CleanOutputLines of output_tail.h.

#include <algorithm>

#include "agent/frames/secrets.h"
#include "agent/launch/output_tail.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

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

}  // namespace

std::vector<std::string> CleanOutputLines(const std::vector<std::string>& lines,
                                          std::span<const std::string> more_names) {
  std::vector<std::string> clean;
  for (const std::string& line : lines) {
    std::string text = WithoutControl(line);
    if (!text.empty()) clean.push_back(std::move(text));
  }
  return HideSecretLines(std::move(clean), more_names);
}

}  // namespace stepscope

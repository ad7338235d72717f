#include "agent/launch/output_tail.h"

#include <algorithm>

namespace stepscope {

void OutputTail::Take(std::string_view bytes) {
  for (const char byte : bytes) TakeByte(byte);
}

void OutputTail::TakeByte(char byte) {
  Line& line = lines_[current_];
  if (byte == '\n') {
    current_ = static_cast<std::uint32_t>((current_ + 1) % kSlots);
    lines_[current_].size = 0;
    returned_ = 0;
    return;
  }
  if (returned_ != 0) line.size = 0;
  returned_ = byte == '\r';
  if (returned_ == 0 && line.size < kLineBytes) line.text[line.size++] = byte;
}

std::vector<std::string> OutputTail::Lines() const {
  std::vector<std::string> lines;
  for (std::size_t i = 1; i <= kSlots; ++i) {
    const Line& line = lines_[(current_ + i) % kSlots];
    const std::size_t size = std::min<std::size_t>(line.size, kLineBytes);
    if (size > 0) lines.emplace_back(line.text.data(), size);
  }
  if (lines.size() > kLines) lines.erase(lines.begin());
  return lines;
}

}  // namespace stepscope

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// The last lines of a stream of output, in one piece of plain memory, so that the process that
// writes it and the one that reads it can be different ones. Every length is checked again when it
// is read.
class OutputTail {
 public:
  static constexpr std::size_t kLines = 20;
  static constexpr std::size_t kLineBytes = 1024;  // of a longer line, its start

  // The next piece, cut anywhere. A carriage return starts its line again, as on a terminal.
  void Take(std::string_view bytes);

  // Oldest first, at most kLines; the last one may be unfinished. Lines without text are left out.
  std::vector<std::string> Lines() const;

 private:
  struct Line {
    std::uint32_t size = 0;
    std::array<char, kLineBytes> text{};
  };

  void TakeByte(char byte);

  static constexpr std::size_t kSlots = kLines + 1;  // and the one being written

  std::array<Line, kSlots> lines_;  // a ring
  std::uint32_t current_ = 0;       // the slot being written
  std::uint32_t returned_ = 0;      // a carriage return waits for what follows it
};

// A line of output as it may travel: without control characters and terminal sequences, and with
// what looks like a password, key or token replaced by "***".
std::string CleanOutputLine(std::string_view line);

}  // namespace stepscope

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// The last lines of a stream of output, in one piece of plain memory, so that one process can write
// and another one read it. Every length is checked again when it is read.
class OutputTail {
 public:
  static constexpr std::size_t kLines = 20;
  static constexpr std::size_t kLineBytes = 1024;  // a longer line is truncated

  // Takes the next piece, cut anywhere. A carriage return starts its line again, as on a terminal.
  void Take(std::string_view bytes);

  // The lines, oldest first, at most kLines; the last one may be unfinished. Lines without text are
  // left out.
  std::vector<std::string> Lines() const;

 private:
  struct Line {
    std::uint32_t size = 0;
    std::array<char, kLineBytes> text{};
  };

  void TakeByte(char byte);

  static constexpr std::size_t kSlots = kLines + 1;  // and the line being written

  std::array<Line, kSlots> lines_;  // a ring
  std::uint32_t current_ = 0;       // the slot being written
  std::uint32_t returned_ = 0;      // a carriage return came, and no character since
};

// Makes lines of output that follow each other fit to be sent: without control characters and
// terminal sequences, with their secrets hidden, and without those of which nothing is left.
std::vector<std::string> CleanOutputLines(const std::vector<std::string>& lines,
                                          std::span<const std::string> more_names = {});

}  // namespace stepscope

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// The terminal of standard output, on an alternate screen. The destructor restores screen and
// settings, as does any signal that ends the program, but SIGKILL. One at a time.
class Terminal {
 public:
  // Invalid when standard input and output are not a terminal.
  static Result<Terminal> Open();
  Terminal(Terminal&& other) noexcept;
  ~Terminal();

  struct Size {
    std::size_t columns = 80, rows = 24;
  };
  Size size() const;

  // Draws the lines; false when the terminal is gone.
  bool Show(const std::vector<std::string>& lines) const;

  // Leave before a stop (Ctrl-Z), Enter after it.
  void Leave();
  void Enter();

 private:
  Terminal() = default;
  bool ours_ = false;
};

}  // namespace stepscope

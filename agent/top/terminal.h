#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// The terminal of standard output, with a screen of its own that is gone afterwards, as is every
// other change: at the end, and when a signal ends the program that no handler can refuse but
// SIGKILL. One at a time.
class Terminal {
 public:
  // Invalid when standard input and output are none.
  static Result<Terminal> Open();
  Terminal(Terminal&& other) noexcept;
  ~Terminal();

  struct Size {
    std::size_t columns = 80, rows = 24;
  };
  Size size() const;

  // False when it is gone.
  bool Show(const std::vector<std::string>& lines) const;

  // For a stop (Ctrl-Z), and after it.
  void Leave();
  void Enter();

 private:
  Terminal() = default;
  bool ours_ = false;
};

}  // namespace stepscope

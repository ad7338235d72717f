#pragma once

#include <memory>

namespace stepscope {

// While it lives, lines of the log are held back, for a program that draws on the terminal they
// would be written to; the last 100 are written when it ends. Made and destroyed while no other
// thread logs; one at a time.
class BufferedLog {
 public:
  BufferedLog();
  ~BufferedLog();
  BufferedLog(const BufferedLog&) = delete;
  BufferedLog& operator=(const BufferedLog&) = delete;

 private:
  struct Sinks;
  std::unique_ptr<Sinks> sinks_;
};

}  // namespace stepscope

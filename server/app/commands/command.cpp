#include "server/app/commands/command.h"

#include "core/base/text.h"

namespace stepscope {

void Print(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

int Complain(const std::string& message, int code) {
  Print(stderr, Format("stepscope-server: {}\n", message));
  return code;
}

}  // namespace stepscope

#pragma once

#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace stepscope {

inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

using Words = std::span<const char* const>;

// A command of stepscope-server, such as "stepscope-server token create ...". Without a command it
// serves.
struct Subcommand {
  std::string_view name;
  std::string_view sentence;  // for --help
  int (*run)(Words words);    // `words`: those behind the name; returns the exit code
};

void Print(std::FILE* to, std::string_view text);

// Prints a line on standard error; returns `code`.
int Complain(const std::string& message, int code);

}  // namespace stepscope

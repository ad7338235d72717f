#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// How a Python was started, as far as it decides what it loads at its start.
struct PythonCommand {
  std::string program{};           // without its folder: "python3"
  std::string script{};            // without its folder; "-m NAME"; "-c"
  bool isolated = false;           // -I
  bool ignores_variables = false;  // -E
  bool no_site = false;            // -S
  bool no_user_site = false;       // -s
};

// Nothing where the command line is no Python's. A process may call itself as it likes:
// `executable` is the name of the file that it runs; "" where that is not known.
std::optional<PythonCommand> ParsePythonCommand(const std::vector<std::string>& words,
                                                std::string_view executable = {});

// The number behind "3." in the name of an executable; nothing in "python3" and other names.
std::optional<int> PythonMinorVersion(std::string_view executable);

}  // namespace stepscope

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agent/launch/launcher.h"

namespace stepscope {

// The first folder in the PYTHONPATH of the command: its sitecustomize waits for torch and loads
// our hooks. It is ../share/stepscope/python of the program's folder, or in the source tree in
// whose build folder the program is; "" when neither exists.
std::string PythonStartFolder(const std::string& program);

// The path of this program; "" when /proc does not have it.
std::string OwnProgram();

// Variables for the command, so that its Pythons find the folder; none without a folder.
std::vector<std::pair<std::string, std::string>> PythonVariables(const std::string& folder,
                                                                 const Environment& environment);

}  // namespace stepscope

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agent/launch/launcher.h"

namespace stepscope {

// The folder that each Python of the command is to look at first: its sitecustomize waits for torch
// and lets our hooks in. It lies in ../share/stepscope/python of the program's folder, or in the
// source tree in whose build folder the program is; "" when it is in neither.
std::string PythonStartFolder(const std::string& program);

// The path of this program; "" when /proc does not say it.
std::string OwnProgram();

// What the command gets, so that its Pythons find the folder; nothing without one.
std::vector<std::pair<std::string, std::string>> PythonVariables(const std::string& folder,
                                                                 const Environment& environment);

}  // namespace stepscope

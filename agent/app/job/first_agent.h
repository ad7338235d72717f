#pragma once

#include <string>

#include "agent/app/options/run_options.h"

namespace stepscope {

// Where a launcher starts an agent for each rank of a node, the first one serves them all: it hears
// their marks and samples the machine once.

// The socket of the first agent of this node; "" when this one is it, or none answers within 2 s,
// as in containers that share nothing.
std::string SocketOfFirstAgent(const RunOptions& options);

// Becomes the command, which finds the first agent. Called before any thread exists. Returns only
// when it cannot, what a shell would.
int BecomeCommand(const RunOptions& options, const std::string& socket);

}  // namespace stepscope

#pragma once

#include <string>

#include "agent/app/options/run_options.h"

namespace stepscope {

// A launcher may start an agent for each rank of a node; the first agent serves them all: it reads
// their marks and samples the machine once.

// The socket of the first agent of this node; "" when this agent is the first, or none answers
// within 2 s, as in containers that share nothing.
std::string SocketOfFirstAgent(const RunOptions& options);

// Replaces this process by the command, which finds the first agent. Called before any thread
// exists. Returns only when that fails: the exit code of a shell.
int BecomeCommand(const RunOptions& options, const std::string& socket);

}  // namespace stepscope

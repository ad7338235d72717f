#pragma once

#include <string>

#include "agent/app/options/common_options.h"

namespace stepscope {

// The checked options of `stepscope-agent top`.
struct TopOptions {
  Duration every = 1s;
  bool once = false;
  std::string socket{};  // empty: the sockets of all agents that can be found
  std::string root{};
  std::string node{};
};

int RunTop(const TopOptions& options);

}  // namespace stepscope

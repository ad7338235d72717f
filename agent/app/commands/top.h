#pragma once

#include <string>

#include "agent/app/options/common_options.h"

namespace stepscope {

// What `stepscope-agent top` was told, checked.
struct TopOptions {
  Duration every = 1s;
  bool once = false;
  std::string socket{};  // empty: of all agents that can be found
  std::string root{};
  std::string node{};
};

int RunTop(const TopOptions& options);

}  // namespace stepscope

#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace stepscope {

// How the hooks are to come into the Pythons of a job.
struct HooksWay {
  std::string root{};          // the node's root
  std::string start_folder{};  // in front of PYTHONPATH; "" where the package is not there
  std::string socket{};        // where the agent listens
  std::uint32_t user = 0;      // who may connect
  bool started_here = true;    // the agent started the command, and set its variables
  bool names_script = true;    // words of the command may be told
  bool switched_off = false;   // by --no-python
};

// Why the hooks cannot be in this Python, which has torch loaded, and what to do: for people, with
// the names of program and, where it may be told, script, and nothing else of the command line. ""
// where nothing is known to be in their way, and for a process that is no Python, has no torch, or
// cannot be read. Reads some files below /proc, a large one only where something is in the way.
std::string WhyWithoutHooks(const HooksWay& way, std::int64_t pid);

// Says it of the first such process among `command` and its descendants, of which it reads a
// bounded number. Processes that the agent hears are left out, with what they started: the helpers
// of a training may run torch, too.
std::string FindMissingHooks(const HooksWay& way, std::int64_t command,
                             std::span<const std::int64_t> heard = {});

}  // namespace stepscope

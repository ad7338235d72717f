#pragma once

#include <signal.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/frames/lifecycle.h"
#include "agent/launch/signal_witness.h"
#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace stepscope {

// Blocks every signal that is meant for the command, so that the main thread reads them one by one.
// Made before any thread starts; has the signal mask for the command.
class CommandSignals {
 public:
  CommandSignals();

  // Readable when a signal came.
  int descriptor() const { return descriptor_.get(); }

  struct Arrival {
    int signal = 0;
    bool sent_by_process = false;  // else by the terminal or the kernel
  };
  std::optional<Arrival> Next();

  const sigset_t& mask_before() const { return before_; }
  bool pipe_was_ignored() const { return pipe_was_ignored_; }

 private:
  Descriptor descriptor_;
  sigset_t before_{};
  bool pipe_was_ignored_ = false;
};

// Whether this signal asks the program to end.
bool AsksToEnd(int signal);

struct CommandOptions {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours
  std::vector<std::string> hidden{};              // variables that it does not inherit
  int standard_error = -1, standard_output = -1;  // -1: ours
};

// The command that is profiled. It has our terminal, process group, standard input and output.
class ProfiledCommand {
 public:
  // NotFound when there is no such program, Invalid when it cannot be executed; each names it.
  static Result<ProfiledCommand> Start(const CommandOptions& options,
                                       const CommandSignals& signals);

  // Passes on a signal that the command has not received itself, which may take
  // SignalWitness::kPatience to know; stops along with it when the terminal asks for it.
  void Forward(const CommandSignals::Arrival& arrival) const;

  pid_t pid() const { return pid_; }

  // The command's end, once it has ended. Takes away all children that have ended, orphans of the
  // command, too: call it whenever SIGCHLD came. Where the command stops itself in the foreground
  // of a terminal, this process stops, too, so that the shell has the terminal back.
  std::optional<CommandEnd> Ended();

 private:
  ProfiledCommand(pid_t pid, std::shared_ptr<SignalWitness> witness)
      : pid_(pid), witness_(std::move(witness)) {}
  bool HasIt(int signal) const;

  pid_t pid_;
  std::shared_ptr<SignalWitness> witness_;  // of all copies; null: not known what was sent to whom
  std::optional<CommandEnd> end_{};
};

// Takes away children that have ended, once there is no command whose end is wanted.
void ReapChildren();

// Makes this process the one that inherits what the command's processes leave behind, as process 1
// of a container is: they are seen, and taken away when they have ended.
void AdoptOrphans();

// Ends this process as the command has ended: with its exit code, or by its signal, which a shell
// and a batch system tell apart. Process 1 cannot end by a signal, and exits with 128 + its number.
int EndAs(const CommandEnd& end);

}  // namespace stepscope

#include "agent/app/job/command_wait.h"

#include <poll.h>

#include <algorithm>
#include <optional>

#include "agent/launch/process_stop.h"

namespace stepscope {
namespace {

constexpr Duration kStopPause = 500ms;

class Wait {
 public:
  explicit Wait(const CommandWait& wait) : wait_(wait) {}

  CommandEnd Run() {
    while (!over_) {
      Sleep();
      TakeSignals();
      ContinueStop();
      if (wait_.command != nullptr) end_ = wait_.command->Ended();
      over_ = over_ || (end_ && (!stopping_ || stopping_->Over()));
    }
    return end_.value_or(CommandEnd());
  }

 private:
  void Sleep() {
    const Duration pause = wait_.update();
    pollfd watched[] = {{wait_.signals.descriptor(), POLLIN, 0},
                        {stopping_ ? -1 : wait_.stop.descriptor(), POLLIN, 0}};
    poll(watched, 2, static_cast<int>((stopping_ ? std::min(pause, kStopPause) : pause) / 1ms));
    if (watched[1].revents == 0 || wait_.command == nullptr) return;
    stopping_.emplace(wait_.grace, wait_.clock);
    if (!end_) stopping_->Add({wait_.command->pid()});
  }

  // Ranks that connect after the stop was asked for are stopped, too.
  void ContinueStop() {
    if (!stopping_) return;
    stopping_->Add(wait_.others());
    stopping_->Continue();
  }

  // A user who interrupts after the command's end does not want to wait for processes that it left
  // behind.
  void TakeSignals() {
    while (const auto arrival = wait_.signals.Next()) {
      const bool running = wait_.command != nullptr && !end_;
      if (running && arrival->signal != SIGCHLD) wait_.command->Forward(*arrival);
      if (!running && AsksToEnd(arrival->signal)) over_ = true;
    }
  }

  const CommandWait& wait_;
  std::optional<ProcessStop> stopping_;
  std::optional<CommandEnd> end_;
  bool over_ = false;
};

}  // namespace

CommandEnd WaitForEnd(const CommandWait& wait) {
  return Wait(wait).Run();
}

}  // namespace stepscope

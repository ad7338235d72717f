#include "tests/scenarios/command/play.h"

#include <cmath>
#include <list>

#include "core/base/log.h"
#include "core/base/worker.h"
#include "tests/scenarios/made_agents.h"

namespace stepscope::scenarios {
namespace {

constexpr Duration kBetweenPushes = 1s, kBetweenWords = 5s;
// Data of one push when playing as fast as possible.
constexpr Duration kPiece = 300s;
// A service that takes nothing for longer counts as away.
constexpr Duration kMostTrouble = 15s;

class Player {
 public:
  Player(const Training& training, const PlayOptions& options, Uplink& uplink,
         const std::stop_token& stop)
      : training_(training),
        options_(options),
        stop_(stop),
        began_(clock_.Now()),
        job_(MakeJob(training, FirstTick())) {
    const auto post = [&uplink](std::string body) { return uplink.Post(std::move(body)); };
    for (std::size_t node = 0; node < training.nodes; ++node) {
      agents_.emplace_back(training_, job_, node, options.job, post, clock_);
    }
  }

  Status Run();

 private:
  Status SendUntil(Duration played);
  Time FirstTick() const;
  Duration Due(Duration played) const;
  Status SendAll();
  Status SendAll(MadeAgent& agent);
  Status Interrupt(Duration played);
  void LogProgress(Duration played);

  const Training& training_;
  const PlayOptions& options_;
  const std::stop_token& stop_;
  const SystemClock clock_;
  const Time began_;
  const Job job_;
  std::list<MadeAgent> agents_;
  SteadyTime said_{};
};

// The origin lies on the grid of ticks, so that the last tick has the time at which it is sent.
Time Player::FirstTick() const {
  const double takes = options_.speed > 0 ? 1 / options_.speed : 0;
  const auto early =
      Duration(std::llround(static_cast<double>(training_.length.count()) * (1 - takes)));
  const Time first = began_ - early;
  return first - first.time_since_epoch() % training_.interval;
}

// The part of the data that is due by now.
Duration Player::Due(Duration played) const {
  if (options_.speed == 0) return std::min(training_.length, played + kPiece);
  const auto passed = static_cast<double>((clock_.Now() - began_).count()) * options_.speed;
  return std::min(training_.length, Duration(std::llround(passed)));
}

Status Player::SendUntil(Duration played) {
  for (MadeAgent& agent : agents_) agent.AppendUntil(job_.origin + played);
  return SendAll();
}

Status Player::Run() {
  // All nodes begin before any of them ends: a job ends with the last known node.
  if (Status began = SendUntil(training_.interval); !began) return began;
  for (Duration played{}; played < training_.length;) {
    if (options_.speed > 0 && !SleepFor(stop_, kBetweenPushes)) return Interrupt(played);
    if (stop_.stop_requested()) return Interrupt(played);
    played = Due(played);
    if (Status sent = SendUntil(played); !sent) return sent;
    LogProgress(played);
  }
  return {};
}

Status Player::SendAll() {
  for (MadeAgent& agent : agents_) {
    if (Status sent = SendAll(agent); !sent) return sent;
  }
  return {};
}

Status Player::SendAll(MadeAgent& agent) {
  const SteadyTime give_up = clock_.Steady() + kMostTrouble;
  for (;;) {
    const Duration wait = agent.Send();
    if (agent.over()) {
      return Conflict(agent.reason() + "; remove that job, or choose another name with --job");
    }
    if (agent.forbidden()) return Invalid("the service refuses the token: " + agent.reason());
    if (wait == Sender::kNothingWaits) return {};
    if (wait == 0ns) continue;
    if (clock_.Steady() > give_up || !SleepFor(stop_, std::min<Duration>(wait, 2s))) {
      return Unavailable("the service does not take frames: " + agent.reason());
    }
  }
}

Status Player::Interrupt(Duration played) {
  for (MadeAgent& agent : agents_) agent.Interrupt(job_.origin + played);
  Status sent = SendAll();
  return sent ? Unavailable("interrupted; the job is told as one that was, too") : sent;
}

void Player::LogProgress(Duration played) {
  const SteadyTime now = clock_.Steady();
  if (now < said_ + kBetweenWords) return;
  said_ = now;
  std::uint64_t samples = 0;
  for (const MadeAgent& agent : agents_) samples += agent.samples();
  LogInfo("{}: {:.0f} of {:.0f} s of data, {} samples", options_.job, ToSeconds(played),
          ToSeconds(training_.length), samples);
}

}  // namespace

Status Play(const Training& training, const PlayOptions& options, Uplink& uplink,
            const std::stop_token& stop) {
  return Player(training, options, uplink, stop).Run();
}

Status CheckService(Uplink& uplink, const std::string& server) {
  const auto answer = uplink.AskWhoAmI();
  if (!answer) {
    return Unavailable(Format("--server: {} is away: {}", server, answer.error().message));
  }
  if (answer->status == 401 || answer->status == 403) {
    return Invalid(
        "the service refuses the token, or wants one: give one that agents may use with "
        "--token-file");
  }
  if (answer->status == 200) return {};
  return Unavailable(Format("--server: {} answers with HTTP status {}; is it a Stepscope service?",
                            server, answer->status));
}

}  // namespace stepscope::scenarios

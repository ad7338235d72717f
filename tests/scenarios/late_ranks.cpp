// Trainings on CPUs whose ranks exchange gradients over gloo, and wait for one of them, or for
// none.

#include "tests/scenarios/catalog.h"
#include "tests/scenarios/healthy.h"

namespace stepscope::scenarios {
namespace {

void Lengthen(Step& step, Phase phase, Duration by) {
  step.phases[static_cast<std::size_t>(phase)] += by;
}

// The threads of the ranks run all the time, apart from `asleep` percent of it.
Training OverGloo(std::function<double(std::size_t rank)> asleep) {
  Training training = Healthy();
  training.gpus = 0;
  training.loop.ranks = 4;
  training.loop.noise = 0.1;  // ranks that step together have equally long steps
  training.loop.shares = {{Phase::kData, 1}};
  training.loop.facts["backend"] = "gloo";
  training.loop.facts["loader_num_workers"] = "2";
  Add(training, {{.metric = "process_thread_cpu_percent",
                  .noise = 2,
                  .change = [=](double noise, const Moment& moment) {
                    return std::clamp(97 - asleep(moment.device) + noise, 0.0, 100.0);
                  }}});
  return training;
}

// All but the late rank sleep for a third of each step in which they wait for it.
double OthersSleep(std::size_t rank) {
  return rank == 1 ? 0 : 33;
}

// Rank 1 works 100 ms longer in a phase, and the others wait for it in backward.
Training LateIn(Phase phase, std::function<double(std::size_t rank)> asleep) {
  Training training = OverGloo(std::move(asleep));
  training.loop.change = [phase](Step& step, int rank) {
    Lengthen(step, rank == 1 ? phase : Phase::kBackward, 100ms);
  };
  return training;
}

Training LateInData() {
  return LateIn(Phase::kData, [](std::size_t) { return 33.0; });
}

Training LateInForward() {
  return LateIn(Phase::kForward, OthersSleep);
}

Training LateInBackward() {
  return LateIn(Phase::kBackward, OthersSleep);
}

Training CheckpointsOfOneRank() {
  Training training = OverGloo([](std::size_t) { return 0.0; });
  training.loop.change = [](Step& step, int rank) {
    if (step.number % 50 == 49) {
      Lengthen(step, rank == 0 ? Phase::kCheckpoint : Phase::kBackward, 5s);
    }
  };
  return training;
}

// Each step another rank is the last one.
Training Jitter() {
  Training training = OverGloo([](std::size_t) { return 3.0; });
  training.nodes = 2;
  training.loop.change = [](Step& step, int rank) {
    const auto drawn = static_cast<std::uint64_t>(step.number + 1) * 0x9e3779b97f4a7c15;
    Lengthen(
        step,
        (drawn >> 32U & 7U) == static_cast<std::uint64_t>(rank) ? Phase::kData : Phase::kBackward,
        20ms);
  };
  return training;
}

// The first stage reads data, the last one has the loss; in between they wait for each other.
Training Stages4() {
  Training training =
      OverGloo([](std::size_t rank) { return 60.0 - 15.0 * static_cast<double>(rank); });
  training.loop.shares = {};
  training.loop.change = [](Step& step, int rank) {
    if (rank == 0) Lengthen(step, Phase::kData, 30ms);
    if (rank == 3) Lengthen(step, Phase::kLoss, 30ms);
    if (rank == 1 || rank == 2) Lengthen(step, Phase::kOther, 30ms);
  };
  return training;
}

const NamedScenario kLateRanks[] = {
    {"late-in-data",
     "one of four ranks over gloo waits for its batches, and all wait for it",
     LateInData,
     {"late_rank", {"DataloaderBottleneck", "Straggler"}}},
    {"late-in-forward",
     "one of four ranks over gloo computes longer, and the threads of the others sleep in backward",
     LateInForward,
     {"late_rank", {"Straggler"}}},
    {"late-in-backward",
     "one of four ranks over gloo computes longer in the pass in which the others wait for it",
     LateInBackward,
     {"late_rank", {"Straggler"}}},
    {"checkpoints-of-one-rank",
     "rank 0 alone writes a checkpoint each 50 steps, and the others wait for it in backward",
     CheckpointsOfOneRank,
     {"late_rank", {"PeriodicStall", "StepOutlier", "Straggler"}}},
    {"ranks-in-turns",
     "in each step another one of eight ranks over gloo is the last",
     Jitter,
     {kNoBottleneck}},
    {"pipeline",
     "four stages of a pipeline, which have other phases and more or less work",
     Stages4,
     {kNoBottleneck, {}, {"Straggler"}}},
};

}  // namespace

std::span<const NamedScenario> LateRanks() {
  return kLateRanks;
}

}  // namespace stepscope::scenarios

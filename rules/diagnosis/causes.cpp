#include "rules/diagnosis/causes.h"

#include <numeric>

namespace stepscope {
namespace {

constexpr CauseText kTexts[kCauses] = {
    {"busy", "busy", 0, "", "", ""},
    {"raw_data_input", "raw data input", 1, "data pipeline",
     "Keep the data nearer to the GPUs, store it in fewer and larger files, read ahead, and use "
     "more readers.",
     "DataloaderBottleneck,IOBottleneck,NetworkBottleneck"},
    {"preprocessing", "preprocessing", 2, "data pipeline",
     "Do what is the same each time once before the training, use a cheaper decoder or transform, "
     "move it to the GPU, or use more data-loader workers where cores are free.",
     "DataloaderBottleneck,CPUBottleneck,Dataloader"},
    {"host_to_device", "copies to the GPU", 3, "data pipeline",
     "Pin the loader's memory, copy without blocking, and copy the next batch while this one is "
     "computed.",
     ""},
    {"framework_overhead", "framework overhead", 4, "framework overhead",
     "The host cannot launch work as fast as the GPU does it: compile the model, fuse small "
     "operations, use CUDA graphs, or raise the batch size.",
     "FrameworkOverhead"},
    {"under_use", "work that does not fill the GPU", 4, "model",
     "Raise the batch size, use larger kernels, or use fewer or smaller GPUs.",
     "LowGPUUtilization,BatchSize"},
    {"communication", "communication", 5, "communication",
     "Overlap it with the backward pass, send larger or fewer messages, or compress gradients.",
     "CommunicationBottleneck,LoadBalancing,NetworkBottleneck"},
    {"late_rank", "waits for a rank that is late", 5, "communication",
     "Look at what the late rank does in each step that the others do not, and at its node.",
     "Straggler,LoadBalancing"},
    {"device_to_host", "copies from the GPU", 6, "framework overhead",
     "Copy results to the host less often, without blocking, and into pinned memory.", ""},
    {"synchronisation", "waits for results of the GPU", 6, "framework overhead",
     "Read losses and metrics less often: keep them on the GPU, and read many at once.", ""},
    {"callbacks", "output processing", 7, "framework overhead",
     "Do what comes between the steps (callbacks, logs, metrics) less often, or on another thread "
     "or process.",
     "PeriodicStall"},
    {"storage", "checkpoints and logs", 8, "data pipeline",
     "Write checkpoints less often, on another thread, and to a fast disk first.",
     "PeriodicStall,GrowingUpload"},
    {"evaluation", "evaluation", 0, "",
     "Evaluate less often, on fewer batches, or in a job of its own.", ""},
    {"throttled", "the CPU quota of the container", 0, "",
     "Raise the container's CPU limit, or use fewer threads and loader workers.", "Throttled"},
    {"on_cpu", "computing on the CPU", 4, "model",
     "The GPUs did nothing while the model computed: move model and batches to them, or ask for "
     "nodes without GPUs.",
     "IdleGPU,LowGPUUtilization"},
    {"unknown", "time that nothing explains", 0, "",
     "Report the phases of the steps, so that it gets a name.", "StalledTraining"},
};

}  // namespace

const CauseText& TextOf(Cause cause) {
  return kTexts[static_cast<std::size_t>(cause)];
}

double TimeByCause::Total() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

void TimeByCause::Add(const TimeByCause& other) {
  for (std::size_t i = 0; i < kCauses; ++i) seconds[i] += other.seconds[i];
}

TimeByCause TimeByCause::Scaled(double factor) const {
  TimeByCause scaled = *this;
  for (double& each : scaled.seconds) each *= factor;
  return scaled;
}

}  // namespace stepscope

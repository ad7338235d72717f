#include "agent/gpu/nvidia.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// How long a reading is used for the ticks after it, or two ticks where these are far apart.
constexpr Duration kGoodFor = 2s;

class NvidiaCollector : public Collector {
 public:
  explicit NvidiaCollector(std::unique_ptr<NvmlReader> reader) : reader_(std::move(reader)) {
    if (Starting()) LogWarning("NVML takes long to start; GPUs come when it has");
  }

  void Begin(SteadyTime now) override {
    reader_->Ask(now);
    begun_ = true;
  }

  Status Collect(SteadyTime now, TickRow& row) override {
    if (!std::exchange(begun_, false)) reader_->Ask(now);
    reader_->Await();
    const Duration good_for = std::max(kGoodFor, 2 * (now - before_.value_or(now)));
    before_ = now;
    const auto read = reader_->Newest(
        [&](std::span<const GpuValues> values) { newest_.assign(values.begin(), values.end()); });
    if (!read) return reader_->Failure().value_or(Unavailable("NVML has not answered yet"));
    if (now - *read > good_for) {
      return Unavailable(Format("NVML has not answered for {:.1f} s", ToSeconds(now - *read)));
    }
    Show(row);
    return {};
  }

  std::vector<GpuFacts> Gpus() const override { return reader_->Gpus(); }
  void GpuProcessesInto(SteadyTime now, std::vector<GpuProcess>& processes) const override {
    reader_->ProcessesInto(now, processes);
  }
  void KeepWithin(double core_share) override { reader_->KeepWithin(core_share); }
  std::vector<SlowedReading> Slowed() const override { return reader_->Slowed(); }
  bool Starting() const override { return Gpus().empty() && !reader_->Failure(); }
  bool Ended() const override { return reader_->Failure().has_value(); }

 private:
  void Show(TickRow& row) {
    if (columns_.empty()) {
      for (GpuFacts& gpu : reader_->Gpus()) columns_.emplace_back(std::move(gpu.device));
    }
    for (std::size_t i = 0; i < newest_.size(); ++i) columns_[i].Set(newest_[i], row);
  }

  std::unique_ptr<NvmlReader> reader_;
  bool begun_ = false;
  std::optional<SteadyTime> before_;
  std::vector<GpuValues> newest_;
  std::vector<GpuColumns> columns_;
};

}  // namespace

Result<std::unique_ptr<Collector>> MakeNvidiaCollector(const std::string& library,
                                                       const NvmlPatience& patience,
                                                       const SteadyNow& steady) {
  const auto nvml = LoadNvml(library);
  if (!nvml) return nvml.error();
  auto reader = NvmlReader::Start(*nvml, patience, steady);
  if (!reader) return reader.error();
  return std::unique_ptr<Collector>(std::make_unique<NvidiaCollector>(std::move(*reader)));
}

}  // namespace stepscope

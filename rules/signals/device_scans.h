#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rules/engine/finding_track.h"
#include "rules/engine/scan_time.h"
#include "rules/engine/state.h"
#include "rules/signals/initialisation.h"

namespace stepscope {

// The results of a rule's scans for each device: how often it was judged, how often it fired, and
// the findings. One trigger is one device in one scan. Between Begin and End of a scan each device
// that can be judged is either Clear or triggers. An early scan and the one after it count as one.
class DeviceScans {
 public:
  struct Device {
    std::int64_t scans = 0, triggers = 0;

    template <typename State>
    void Fields(State& state) {
      state("scans", scans);
      state("triggers", triggers);
    }
  };

  // Records that ticks from `at` on were seen.
  void Saw(Time at) {
    first_ = std::min(first_.value_or(at), at);
    time_.Saw(at);
  }
  bool SawAny() const { return first_.has_value(); }
  void Begin(Time at);
  void BeginNextEarly() { next_is_early_ = true; }
  void Clear(const Subject& subject);
  // `lost` is the part of the device's time that it lost, 0 to 1. A finding that ended no more than
  // `gap` before this one is made longer.
  void Trigger(const Finding& finding, double lost, Duration gap = {});
  void End();

  std::vector<Finding> Take() { return findings_.Take(); }
  std::int64_t judged() const { return judged_; }
  std::int64_t scans() const { return scans_; }
  std::int64_t triggers() const { return triggers_; }
  std::int64_t devices() const { return static_cast<std::int64_t>(devices_.size()); }
  Device Of(const Subject& subject) const;

  // "1 of 4 GPUs fired 3 times in 3 scans", and when it ended.
  std::string FiredText(const std::string& device) const;
  // A finding or clear, with everything but the sentence. The share is the part of the scans that
  // fired, each weighted by its length; a rule that knows for how long a device fired between two
  // scans replaces it.
  Verdict Judge() const;

  template <typename State>
  void Fields(State& state) {
    state("findings", findings_);
    state("devices", devices_, [] { return Device(); });
    state("scans", scans_);
    state("judged", judged_);
    state("triggers", triggers_);
    state("time", time_);
    state("active", active_);
    state("first", first_);
    state("fired", fired_);
    state("last", last_);
    state("early", early_, [] { return false; });
  }

 private:
  bool Count(const Subject& subject, bool triggers);

  FindingTrack findings_;
  std::map<Subject, Device, std::less<>> devices_;      // the judged devices
  std::int64_t scans_ = 0, judged_ = 0, triggers_ = 0;  // judged and triggers count each device
  ScanTime time_;                                       // counts each device by itself
  bool active_ = false;
  std::optional<Time> first_, fired_, last_;  // first sample, first and last trigger
  // Devices that an early scan judged, and whether they triggered, until the next scan has ended.
  std::map<Subject, bool, std::less<>> early_;

  // State of the current scan; not saved.
  bool next_is_early_ = false, is_early_ = false;
  Time at_{};
  std::int64_t judged_before_ = 0;
};

// The reason why no GPU can be judged, before samples are counted: there is no GPU, none gives
// samples of the metric, or the initialisation is not over. Empty when none of these holds.
// `devices` are the GPUs that gave samples.
std::string WithoutSamples(const JobFacts& facts, const Initialisation& start,
                           const std::vector<Subject>& devices, std::string_view metric);

// "GPU 0 of node a".
std::string GpuText(const Subject& subject);

}  // namespace stepscope

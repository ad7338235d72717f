#pragma once

// What the ticks of a node showed of its host, summed up.

#include <algorithm>
#include <cmath>

#include "rules/diagnosis/causes.h"

namespace stepscope {

// Rounds to a multiple of 2^-10, so that sums of such values are exact and do not depend on the
// order of adding.
inline double Coarse(double value) {
  return std::nearbyint(value * 1024) / 1024;
}

// The mean of the samples of a series, or of one figure for each tick.
struct SampleMean {
  double sum = 0, count = 0;

  void Add(double value) { sum += Coarse(value), ++count; }
  void Add(const SampleMean& other) { sum += other.sum, count += other.count; }
  bool known() const { return count > 0; }
  double Value() const { return known() ? sum / count : 0; }

  template <typename State>
  void Fields(State& state) {
    state("sum", sum);
    state("count", count);
  }
};

// Sums over ticks of a node: GPU-seconds in which its GPUs were busy, and GPU-seconds in which they
// idled, by the cause that the host showed in the same ticks. `host` counts ticks by the cause that
// the host showed, whether the GPUs idled or not.
struct HostSums {
  double busy = 0;
  TimeByCause idle, host;
  SampleMean thread_percent;     // CPU of the training threads, each
  SampleMean thread_waits;       // time in which each of them was ready and had no core, in percent
  SampleMean loaders;            // processes that load data
  SampleMean loader_percent;     // their CPU, each
  SampleMean loader_waits;       // time in which each was ready and had no core, in percent
  SampleMean loader_blocked;     // the time in which each of them waited for a disk, in percent
  SampleMean cpu_percent;        // CPU of the node, all cores
  SampleMean sent_megabytes;     // a second, from a GPU over PCIe
  SampleMean throttled_percent;  // periods in which a CPU quota stopped the container

  // The part of the time in which a training thread computed, or would have with a core of its own.
  double ThreadComputes() const {
    return std::min(1.0, (thread_percent.Value() + thread_waits.Value()) / 100);
  }

  // A loader computes as a training thread does.
  double LoaderComputes() const {
    return std::min(1.0, (loader_percent.Value() + loader_waits.Value()) / 100);
  }

  void Add(const HostSums& other) {
    busy += other.busy;
    idle.Add(other.idle);
    host.Add(other.host);
    thread_percent.Add(other.thread_percent);
    thread_waits.Add(other.thread_waits);
    loaders.Add(other.loaders);
    loader_percent.Add(other.loader_percent);
    loader_waits.Add(other.loader_waits);
    loader_blocked.Add(other.loader_blocked);
    cpu_percent.Add(other.cpu_percent);
    sent_megabytes.Add(other.sent_megabytes);
    throttled_percent.Add(other.throttled_percent);
  }

  template <typename State>
  void Fields(State& state) {
    state("busy", busy);
    state("idle", idle);
    state("host", host);
    state("thread", thread_percent);
    state.Added("thread_waits", thread_waits);
    state("loaders", loaders);
    state("loader", loader_percent);
    state.Added("loader_waits", loader_waits);
    state("blocked", loader_blocked);
    state("cpu", cpu_percent);
    state("sent", sent_megabytes);
    state("throttled", throttled_percent);
  }
};

}  // namespace stepscope

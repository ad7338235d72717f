"""Which answers are right: the one table that all trainings, recordings and scenarios are held against."""

from pathlib import Path
from typing import NamedTuple

NONE = ""  # no cause is named
OURS, OURS_PREFIX = Path(__file__).with_name("recordings"), "h200-"  # recordings of an H200, see README.md there
INPUT = {"raw_data_input", "preprocessing"}
# Time in no phase, on a machine without GPU: to name it is as right as to say that nobody knows.
OUTSIDE = {"callbacks", "unknown"}


class Answers(NamedTuple):
    causes: frozenset  # the names that the first cause may have
    rule: str = ""  # a rule that must find issues, too
    words: str = ""  # what its sentence must hold, in lower case


def answers(*causes, rule="", words=""):
    return Answers(frozenset(causes), rule, words)


# Truth -> what may be said first.
RIGHT = {
    "healthy": answers(NONE),
    "preprocessing": answers("preprocessing"),
    "raw input": answers("raw_data_input"),
    "waits that no hook sees": answers(*INPUT, "unknown"),
    "waits for data of any kind": answers(*INPUT),
    "copies to the GPU": answers("host_to_device"),
    "copies from the GPU": answers("device_to_host", "synchronisation"),
    "launch-bound": answers("framework_overhead"),
    # A small model reads hundreds of values a step: the host is behind because it waits, and because it launches them.
    "many synchronisations": answers("synchronisation", "device_to_host", "framework_overhead"),
    "computing on the CPU": answers("on_cpu"),
    "work that does not fill the GPU": answers("under_use"),
    "communication": answers("communication"),
    # The backward pass exchanges gradients in threads of its own, which no phase shows.
    "communication in the backward pass": answers("communication", "unknown"),
    "callbacks": answers("callbacks"),
    "time outside of all phases": answers(*OUTSIDE),
    "checkpoints": answers("storage"),
    "checkpoints by hand": answers("storage", *OUTSIDE),
    # Rank 0 writes, the others wait for it: the reason and the late rank are both right.
    "checkpoints of one rank": answers("storage", "late_rank"),
    "evaluation": answers("evaluation"),
    "time beside the steps": answers("evaluation", *OUTSIDE),
    "straggler": answers("late_rank", "communication", rule="Straggler", words="rank 1"),
    "straggler of four": answers("late_rank", "communication", rule="Straggler", words="rank 2"),
    "late rank over gloo": answers("late_rank", rule="Straggler", words="rank 1"),
    # Its batches come late: both the late rank and the reason for it are right.
    "straggler in its data": answers("late_rank", "communication", *INPUT, rule="Straggler", words="rank 1"),
    "straggler outside of all phases": answers("late_rank", "communication", *OUTSIDE, rule="Straggler", words="rank 1"),
    # Long before the first step, or after the last one, in a short job: seen, but no cause.
    "start-up": answers(NONE),
    "long end": answers(NONE),
    "leak": answers(NONE),
    "slower and slower": answers(NONE, *OUTSIDE, rule="StepTimeTrend"),
    "quota": answers(NONE, "throttled", rule="Throttled"),
    # Five seconds of steps after a long start: too short for more than that the host launches tiny kernels.
    "few tiny steps": answers(NONE, "framework_overhead", "unknown"),
    "hang": answers(NONE, "unknown", rule="StalledTraining"),
    "heat": answers(NONE, rule="GPUThrottled"),
    "slower since": answers(NONE, rule="StepTimeRegression"),
    "one GPU without work": answers("under_use", rule="IdleGPU"),
    "memory grows": answers(NONE, rule="MemoryLeak"),
    "uploads grow": answers(NONE, rule="GrowingUpload"),
}

# File of a recording, without its suffix -> truth. A file that is not here is not counted.
RECORDINGS = {
    "healthy": "healthy",
    "smi-healthy": "healthy",
    "preprocessing": "preprocessing",
    "one_worker": "preprocessing",
    "slow_source": "raw input",
    "disk_input": "raw input",
    "small_batch": "launch-bound",
    "host_to_device": "copies to the GPU",
    "device_to_host": "copies from the GPU",
    "item_sync": "many synchronisations",
    "idle_gpu": "computing on the CPU",
    "memory_leak": "leak",
    "callback": "callbacks",
    "checkpoint": "checkpoints",
    "straggler": "straggler",
    "fw-lightning": "few tiny steps",
}

# Scenario -> truth, as it was made (docs/scenarios.md says how).
SCENARIOS = {
    "healthy": "healthy",
    "slow-input": "raw input",
    "slow-preprocessing": "preprocessing",
    "slow-transfer": "copies to the GPU",
    "framework-overhead": "launch-bound",
    "communication": "communication",
    "device-to-host": "copies from the GPU",
    "callbacks": "callbacks",
    "slow-storage": "checkpoints",
    "few-loader-workers": "healthy",
    "straggler": "straggler of four",
    "step-outliers": "healthy",
    "slower-steps": "slower since",
    "stalled": "hang",
    "late-processes": "start-up",
    "slow-start": "start-up",
    "long-start": "start-up",
    "small-batches": "work that does not fill the GPU",
    "hot-gpu": "heat",
    "gpu-memory-jump": "healthy",
    "slow-network": "raw input",
    "uneven-load": "work that does not fill the GPU",
    "memory-leak": "memory grows",
    "growing-steps": "slower and slower",
    "late-in-data": "late rank over gloo",
    "late-in-forward": "late rank over gloo",
    "late-in-backward": "late rank over gloo",
    "checkpoints-of-one-rank": "checkpoints of one rank",
    "ranks-in-turns": "healthy",
    "pipeline": "healthy",
    "small-quota": "quota",
    "growing-upload": "uploads grow",
    "input-and-communication": "raw input",
    "preprocessing-and-checkpoints": "preprocessing",
    "cold-cache": "raw input",
    "all-gpus-full": "healthy",
    "prefetch-far-ahead": "healthy",
    "idle-gpu": "one GPU without work",
    "idle-at-the-end": "healthy",
    "short-job": "healthy",
    "no-gpu": "preprocessing",
    "no-steps": "raw input",
    "silent-node": "healthy",
    "samples-of-100ms": "preprocessing",
    "samples-of-60s": "preprocessing",
    "gaps": "healthy",
    "missing-metrics": "healthy",
    "restart": "healthy",
    "clocks-apart": "healthy",
    "failed": "healthy",
}

# What is known to be said wrong, and why: it counts as wrong in the share, but the short form does not fail for it.
PENDING = {}

# What the short form plays: a handful of different real trainings, and all scenarios, as they take no time.
SHORT = (
    "real/preprocessing-in-process", "real/remote-source-in-process", "real/bursts-of-a-remote-source", "real/slow-storage-of-checkpoints",
    "real/prefetch-that-keeps-up", "real/many-small-epochs", "real/logging-call", "real/evaluation-of-30-percent", "recordings/h200-*", "scenarios/*",
)

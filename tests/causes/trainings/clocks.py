"""A training's own clocks, which know nothing of Stepscope: what it says of itself is the truth that a diagnosis is held against."""

import time
from contextlib import contextmanager

TRAININGS = {}
clock = time.perf_counter


def training(truth, *parts, ranks=1, longer=1.0, needs=None, quota_percent=0):
    """Names a function as a training. `truth` is a row of tests/causes/table.py; the share of the time that its clocks measured in
    `parts` is how large the cause really was. `longer` stretches it, `needs` gives the reason why it cannot run here, or
    nothing, `quota_percent` is how much of a core it may use."""

    def named(function):
        name = function.__name__.replace("_", "-")
        TRAININGS[name] = {
            "function": function, "truth": truth, "parts": parts, "ranks": ranks, "longer": longer, "needs": needs,
            "quota_percent": quota_percent, "sentence": (function.__doc__ or "").strip(),
        }
        return function

    return named


class Run:
    """One process of a training: how long it is to go on, and how much time went into which part of its loop."""

    def __init__(self, name, seconds, rank=0, world=1):
        self.name, self.seconds, self.rank, self.world = name, seconds, rank, world
        self.steps = self.began = self.ended = 0
        self.seconds_in = {}

    def going(self):
        """Whether the loop goes on. The clocks begin with the first call."""
        now = clock()
        self.began = self.began or now
        return now - self.began < self.seconds

    def left(self):
        return self.seconds - (clock() - self.began)

    @contextmanager
    def part(self, name):
        start = clock()
        try:
            yield
        finally:
            self.seconds_in[name] = self.seconds_in.get(name, 0.0) + clock() - start

    def step_ended(self):
        self.steps += 1
        self.ended = clock()

    def share(self, parts):
        """The part of its time; None where no clock measures the cause."""
        wall = self.ended - self.began
        return round(sum(self.seconds_in.get(part, 0.0) for part in parts) / wall, 4) if parts and wall > 0 else None

    def truth(self):
        row = TRAININGS[self.name]
        wall = self.ended - self.began
        seconds = {part: round(spent, 3) for part, spent in self.seconds_in.items()}
        return {
            "training": self.name, "cause": row["truth"], "share": self.share(row["parts"]), "steps": self.steps,
            "wall_s": round(wall, 3), "parts_s": seconds, "rank": self.rank, "world": self.world,
        }

"""The mean of a metric during each step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

_GAP = 2.5  # intervals without a sample: what was before is not known


def during(steps: Any, samples: Any) -> Any:
    """For each step the mean of the samples over its time, and NaN where nothing was measured.

    A sample tells of the time since the one before it, so a step that lies between two samples has the
    value of the second, and a long step has the mean of all its samples by how much of it each covers.
    """
    known = samples.dropna(subset=["value"]).groupby("time")["value"].mean()
    if known.empty or steps.empty:
        return pd.Series(np.nan, index=steps.index, dtype="float64")
    zero = known.index[0]
    ends = _seconds(known.index - zero)
    apart = np.diff(ends)
    interval = float(np.median(apart)) if apart.size else 1.0
    covers = np.minimum(np.concatenate([[interval], apart]), interval * _GAP)
    begins = _seconds(steps["start"] - zero)
    stops = begins + steps["wall"].to_numpy()
    area = _Integral(ends, covers, known.to_numpy())
    length = _Integral(ends, covers, np.ones_like(ends))
    covered = length.between(begins, stops)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(covered > 0, area.between(begins, stops) / covered, np.nan)
    return pd.Series(mean, index=steps.index)


def _seconds(durations: Any) -> Any:
    return np.asarray(durations / pd.Timedelta(seconds=1), dtype="float64")


class _Integral:
    """The integral of a function that has one value over `covers` seconds up to each of `ends`, and is 0 between."""

    def __init__(self, ends: Any, covers: Any, values: Any) -> None:
        sums = np.cumsum(covers * values)
        self._at = np.column_stack([ends - covers, ends]).ravel()
        self._sum = np.column_stack([np.concatenate([[0.0], sums[:-1]]), sums]).ravel()

    def between(self, begins: Any, stops: Any) -> Any:
        return np.interp(stops, self._at, self._sum) - np.interp(begins, self._at, self._sum)

"""The samples of metrics, asked for in stretches that one answer can hold."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional

import pandas as pd

from ._service import Service
from ._tables import stamps_of_runs

MOST_POINTS = 8000  # so many of a series are in one answer
_KEPT_US = 10_000_000  # bins of what is kept where the samples themselves were removed


def charted(service: Service, path: str, query: Dict[str, Any], points: int) -> Any:
    """At most so many rows of each series."""
    return frame_of([_asked(service, path, query, points)])


def sampled(service: Service, path: str, query: Dict[str, Any], kept_from_us: Optional[int]) -> Any:
    """A row for each interval of each series. Before `kept_from_us` there is one for each 10 seconds."""
    whole = service.get(path, **{**query, "from_us": None, "to_us": None}, points=1000, fold="metric")
    start_us = max(query["from_us"] or 0, whole["from_us"])
    end_us = whole["to_us"] if query["to_us"] is None else min(query["to_us"], whole["to_us"])
    split_us = min(max(kept_from_us or 0, start_us), end_us + 1)
    read = _Reading(service, path, query, step_us=whole["interval_ms"] * 1000)
    answers = [*read.stretches(start_us, split_us - 1, _KEPT_US), *read.stretches(split_us, end_us, 1)]
    return frame_of(answers)


class _Reading:
    """Asks for one stretch of time after the other; `step_us` is how far apart rows seem to be."""

    def __init__(self, service: Service, path: str, query: Dict[str, Any], step_us: int) -> None:
        self._service, self._path, self._query = service, path, query
        self._step_us = step_us

    def stretches(self, at_us: int, end_us: int, least_us: int) -> Iterator[Any]:
        """Answers whose rows are as near to each other as they can be, at least `least_us` apart."""
        self._step_us = max(self._step_us, least_us)
        while at_us <= end_us:
            until_us = min(at_us - at_us % self._step_us + MOST_POINTS * self._step_us - 1, end_us)
            stretch = {**self._query, "from_us": at_us, "to_us": until_us}
            answer = _asked(self._service, self._path, stretch, MOST_POINTS)
            finest_us = max(answer["interval_ms"] * 1000, least_us)
            if answer["bin_us"] > finest_us and finest_us < self._step_us:
                self._step_us = finest_us  # it was measured more often here: a shorter stretch
                continue
            yield answer
            self._step_us = finest_us
            at_us = until_us + 1


def _asked(service: Service, path: str, query: Dict[str, Any], points: int) -> Any:
    """Bins that follow each other come as one run, which is quicker to send and to read than the time of each."""
    return service.get(path, points=points, times="runs", **query)


def frame_of(answers: List[Any]) -> Any:
    """The rows of all answers, by metric, node, device and time."""
    series = [(each, answer["bin_us"]) for answer in answers for each in answer["series"]]
    frame = pd.concat([_part(each, bin_us) for each, bin_us in series or [(_NOTHING, 1)]], ignore_index=True)
    # Where the interval changed, an answer may begin with the last row of the answer before.
    frame = frame.drop_duplicates(_ORDER, keep="last").sort_values(_ORDER, ignore_index=True)
    frame.attrs["units"] = {each["metric"]: each["unit"] for each, _ in series}
    return frame


def _part(series: Dict[str, Any], bin_us: int) -> Any:
    times = stamps_of_runs(series["runs"], bin_us)
    rows = len(times)
    return pd.DataFrame(
        {
            "time": times,
            **{name: pd.Series([series[name]] * rows, dtype="object") for name in ("node", "device", "metric")},
            "value": pd.Series(series["mean"], dtype="float64"),
            "min": pd.Series(series["min"], dtype="float64"),
            "max": pd.Series(series["max"], dtype="float64"),
        }
    )


_ORDER = ["metric", "node", "device", "time"]
_NOTHING: Dict[str, Any] = {"runs": [], "node": "", "device": "", "metric": "", "mean": [], "min": [], "max": []}

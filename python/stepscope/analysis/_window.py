"""One window of traces: what a profiler saw inside of a few steps."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Union

import pandas as pd

from ._service import Service, path_part
from ._tables import table

_KERNELS = (
    "name", "calls", "total_seconds", "share", "mean_seconds", "min_seconds", "max_seconds", "category", "family", "precision", "tensor_cores",
    "launched_by", "occupancy_percent",
)
_OPERATORS = ("name", "shapes", "calls", "cpu_total_seconds", "cpu_self_seconds", "device_total_seconds", "device_self_seconds")
_PARTS = (
    "computing", "exposed_communication", "exposed_copies", "host_late", "host_sync", "host_data", "short_gap", "other_idle",
)
_SPANS = ("track", "kind", "name", "start_ns", "duration_ns", "correlation")
_COMPARED = (
    "name", "change", "before_seconds", "after_seconds", "difference_seconds", "noise_seconds", "before_calls", "after_calls",
)
_CALLS = ("parent", "name", "kind", "calls", "total_seconds", "self_seconds", "device_total_seconds", "device_self_seconds")
_CHANGES = (
    "change", "kernel", "left", "best_step_seconds", "worst_step_seconds", "best_saved_share", "worst_saved_share",
)
_RANKS = ("rank", "offset_seconds", "residual_seconds", "shared", "last", "late_seconds", "waited_seconds")
_MOST_COMPARED = 2000
_MOST_ROWS = 5000  # of one answer


class Window:
    """A window of traces of a job, made by `Job.window`. Each call takes the rank whose trace is read, the lowest one without it.
    Durations are in seconds."""

    def __init__(self, service: Service, path: str, window: Union[str, int]) -> None:
        self._service = service
        self._path = f"{path}/windows/{path_part(str(window))}"
        self.id = str(window)

    def __repr__(self) -> str:
        return f"Window({self.id!r} of {self._service.url})"

    def describe(self) -> Dict[str, Any]:
        """Its steps, and for each rank the file, what was recorded, and what could not be read: the words of the REST answer."""
        return self._service.get(self._path)

    def kernels(self, rank: Optional[int] = None, name: Optional[str] = None) -> Any:
        """Kernels by name, the longest total first: name, calls, total, share, mean, min, max, category, family, precision,
        tensor_cores, launched_by, occupancy_percent. What is not known is missing."""
        return self._rows("kernels", "kernels", _KERNELS, rank=rank, q=name)

    def operators(self, rank: Optional[int] = None, name: Optional[str] = None, shapes: bool = False) -> Any:
        """Operators by name or, with `shapes`, by the shapes of their inputs: name, shapes, calls, cpu_total, cpu_self, device_total,
        device_self."""
        return self._rows("operators", "operators", _OPERATORS, rank=rank, q=name, shapes="true" if shapes else None)

    def breakdown(self, rank: Optional[int] = None) -> Any:
        """Where the time went: device, step, wall, and a column for each part, which add up to `wall`. The row of the whole window has
        no step; the device is missing where the row is of the host."""
        rows: List[Dict[str, Any]] = []
        for device in self._service.get(self._path + "/breakdown", **_given(rank=rank))["devices"]:
            for row in [device["total"], *device["steps"]]:
                rows.append({"device": device["device"], "step": row["step"], "wall": row["wall_seconds"], **row["seconds"]})
        frame = pd.DataFrame(rows, columns=["device", "step", "wall", *_PARTS])
        return frame.astype({"device": "Int64", "step": "Int64", **dict.fromkeys(("wall", *_PARTS), "float64")})

    def spans(
        self,
        name: Optional[str] = None,
        rank: Optional[int] = None,
        tracks: Optional[Sequence[int]] = None,
        start: Optional[float] = None,
        end: Optional[float] = None,
    ) -> Any:
        """The spans themselves, by track and start: track, kind, name, start, duration, correlation. `start` and `end` are seconds since the
        first span of the trace, as is the column `start`. All of a long trace are very many: give a name, tracks or a time."""
        query = _given(rank=rank, q=name, tracks=tracks, from_ns=_nanoseconds(start), to_ns=_nanoseconds(end))
        pages = self._service.pages(self._path + "/search", limit=_MOST_ROWS, **query)
        frame = table([item for page in pages for item in page["items"]], _SPANS)
        for column in ("start", "duration"):
            frame[column] = frame.pop(column + "_ns").astype("float64") / 1e9
        return frame[["track", "kind", "name", "start", "duration", "correlation"]]

    def calls(self, rank: Optional[int] = None) -> Any:
        """What ran within what: a row for each path of names, behind its parent, whose row number is in `parent` (missing: a thread). parent,
        name, kind, calls, total, self, device_total, device_self."""
        frame = table(self._service.get(f"{self._path}/calls", **_given(rank=rank))["nodes"], _CALLS).astype({"parent": "Int64"})
        return _without_unit(frame, _CALLS)

    def what_if(self, rank: Optional[int] = None) -> Any:
        """What a step would take with a kind of its time gone (left 0) or half as long: change, kernel, left, best_step, worst_step,
        best_saved_share, worst_saved_share. No rows where that is not known."""
        rows = self._service.get(f"{self._path}/what-if", **_given(rank=rank))["changes"]
        return _without_unit(table(rows, _CHANGES), _CHANGES)

    def compare(self, other: Union[str, int, "Window"], rows: str = "kernels", rank: Optional[int] = None) -> Any:
        """What a step takes in this window and in the other one, by kernel or, with `rows="operators"`, by operator: name, change (added,
        gone, slower, faster, same, unsure), before, after, difference, noise, before_calls, after_calls."""
        if rows not in ("kernels", "operators"):
            raise ValueError(f"rows is {rows!r}, not kernels or operators")
        other_id = other.id if isinstance(other, Window) else str(other)
        answer = self._service.get(f"{self._path}/compare", limit=_MOST_COMPARED, **_given(rank=rank), **{"with": other_id})
        return _without_unit(table(answer[rows]["rows"], _COMPARED), _COMPARED)

    def ranks(self) -> Any:
        """The ranks of the window on one clock: rank, offset, residual, shared (collectives), last (to how many it came last), late (by
        how much, in all), waited."""
        return _without_unit(table(self._service.get(f"{self._path}/ranks")["ranks"], _RANKS), _RANKS)

    def _rows(self, path: str, rows: str, columns: Sequence[str], **query: Any) -> Any:
        items = self._service.get(f"{self._path}/{path}", limit=_MOST_ROWS, **_given(**query))[rows]
        return _without_unit(table(items, columns), columns)


def _without_unit(frame: Any, columns: Sequence[str]) -> Any:
    return frame.rename(columns={name: name[: -len("_seconds")] for name in columns if name.endswith("_seconds")})


def _given(**query: Any) -> Dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None}


def _nanoseconds(seconds: Optional[float]) -> Optional[int]:
    return None if seconds is None else round(seconds * 1e9)

"""One job: what was measured, and what the rules say of it."""

from __future__ import annotations

import base64
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import pandas as pd

from . import _correlate, _series
from ._service import Service, path_part
from ._tables import Moment, micros_of, stamps, table
from ._window import Window

_PHASES = ("data", "transfer", "forward", "loss", "backward", "communication", "optimizer", "callback", "checkpoint", "other", "sync", "device_to_host")
_UNKNOWN = float("nan")
_GPU_TIMES = ("gpu_idle", *("gpu_" + phase for phase in _PHASES))
_TIMES = ("wall", *_PHASES, "unnamed", "evaluation", *_GPU_TIMES)
_MOST_RANKS = 256  # in one answer about steps


class Job:
    """A job of a service, made by `Client.job`. Each call asks the service anew, so a running job is followed by
    asking again. Data frames have times in UTC and durations in seconds."""

    def __init__(self, service: Service, name: str) -> None:
        self._service = service
        self._path = "/jobs/" + path_part(name)
        self.name = name

    def __repr__(self) -> str:
        return f"Job({self.name!r} of {self._service.url})"

    def describe(self) -> Dict[str, Any]:
        """Status, nodes, ranks, configuration and rules: the words of the REST answer."""
        return self._service.get(self._path)

    def system_metrics(
        self,
        metric: Union[str, Sequence[str]],
        node: Optional[str] = None,
        device: Optional[str] = None,
        start: Optional[Moment] = None,
        end: Optional[Moment] = None,
        points: Optional[int] = None,
    ) -> Any:
        """The samples of one or more metrics: time, node, device, metric, value, min, max.

        Without `points` there is a row for each interval in which the job was measured (10 seconds where the
        service keeps no samples any more), which is much for a long job; with `points` there are at most so
        many for each series (8,000), evenly. Where a row stands for several samples `time` is where they begin and
        `value` is their mean. A row without values is a gap: nothing was measured there. `attrs["units"]`
        has the unit of each metric.
        """
        query = {"metric": metric, "node": node, "device": device, "from_us": micros_of(start), "to_us": micros_of(end)}
        path = self._path + "/metrics"
        if points is not None:
            return _series.charted(self._service, path, query, points)
        return _series.sampled(self._service, path, query, self.describe()["samples_from_us"])

    def steps(self, rank: Optional[int] = None) -> Any:
        """Every step of a rank, or of all ranks: rank, step, start, wall, a column for each phase, unnamed, evaluation,
        gpu_idle, and a column for the GPU's time of each phase, such as gpu_forward.

        All times are in seconds; a phase that did not occur in a step is 0, and `unnamed` is what no phase covers. `wall` is
        without the evaluations that interrupted the step, which are `evaluation`. `gpu_idle` is how long the GPU had nothing to do before the step. It and the GPU's times
        of phases are missing where the GPU's clock is not known for the step.
        """
        columns: Dict[str, List[Any]] = {name: [] for name in ("rank", "step", "start", *_TIMES)}
        for each in self._ranks() if rank is None else [rank]:
            for page in self._service.pages(self._path + "/steps", format="rows", rank=each, limit=5000):
                _add_steps(columns, each, page["items"])
        frame = pd.DataFrame({**columns, "start": stamps(columns["start"])}, columns=list(columns))
        return frame.astype({"rank": "int64", "step": "int64", **dict.fromkeys(_TIMES, "float64")})

    def correlate(self, metric: str, every: int = 50, rank: int = 0, node: Optional[str] = None, device: Optional[str] = None) -> Any:
        """A metric beside the step times of a rank: step, start, wall, value, marked.

        `value` is the mean of the metric while the step ran: of the rank's node, or of `node`, and of all its
        devices, or of `device`. It is missing where nothing was measured. `marked` is true for each step
        whose number is a multiple of `every`, to see what happens at a period.
        """
        steps = self.steps(rank)[["step", "start", "wall"]]
        samples = _series.frame_of([])
        if not steps.empty:
            pause = pd.Timedelta(minutes=1)
            start, end = steps["start"].iloc[0] - pause, steps["start"].iloc[-1] + pd.Timedelta(seconds=steps["wall"].iloc[-1]) + pause
            samples = self.system_metrics(metric, node or self._node_of(rank), device, start, end)
        frame = steps.assign(value=_correlate.during(steps, samples), marked=steps["step"] % every == 0)
        frame.attrs.update(metric=metric, unit=samples.attrs["units"].get(metric, ""))
        return frame

    def findings(self, rule: Optional[str] = None) -> Any:
        """Each stretch of time in which a rule fired: rule, number, start and end, where, sentence, evidence."""
        pages = self._service.pages(self._path + "/findings", rule=rule, limit=500)
        items = [item for page in pages for item in page["items"]]
        columns = ("rule_configuration_name", "finding", "from", "to", "node", "device", "rank", "sentence", "evidence")
        frame = table(items, columns, times=("from", "to"))
        return frame.rename(columns={"rule_configuration_name": "rule", "from": "start", "to": "end"})

    def rules(self) -> Any:
        """The verdict of each rule that judges the job, with its parameters and its evidence."""
        items = [{**item, **item["verdict"]} for item in self._service.get(self._path + "/rules")["items"]]
        return table(items, _RULE_COLUMNS, times=("evaluated",)).rename(columns=_RULE_NAMES)

    def preview(self, rule: str, name: Optional[str] = None, **parameters: Any) -> Dict[str, Any]:
        """The verdict that a rule would give of the job with these parameters; nothing is stored.

        The answer of the service: verdict, findings, parameters, what the job's rule of that name says now, and
        the difference in a sentence. `name` is of the job's rule where it differs from the rule's.
        """
        question = {"rule": rule, "name": name or rule, "parameters": parameters}
        return self._service.ask(self._path + "/rules/preview", question)

    def annotations(self, rank: Optional[int] = None) -> Any:
        """The annotations of the training: rank, name, count, and seconds: total, mean, min, max. The spread of
        their durations is in `annotation_histogram`."""
        rows = []
        for summary in self._summaries(rank):
            rows += [{"rank": summary["rank"], **annotation} for annotation in summary["annotations"]]
        seconds = ("total_seconds", "mean_seconds", "min_seconds", "max_seconds")
        frame = table(rows, ("rank", "name", "count", *seconds))
        return frame.rename(columns={name: name[: -len("_seconds")] for name in seconds})

    def annotation_histogram(self, name: Optional[str] = None, rank: Optional[int] = None) -> Any:
        """How many annotations took how long: rank, name, low, high, count; of one name, or of all.

        A row is a bin: `count` of them took from `low` seconds to less than `high`. The bins are the same for all
        names and ranks and of the whole job, four between two powers of two, so rows of several ranks add up. Bins
        between the first and the last that have any are there too. The counts are fewer than those of
        `annotations` where a window of the service had too many bins, or the agent is an old one.
        """
        columns: Dict[str, List[Any]] = {key: [] for key in _BIN_COLUMNS}
        for summary in self._summaries(rank):
            for each in summary["annotations"]:
                if name is None or each["name"] == name:
                    _add_bins(columns, summary["rank"], each)
        types = {"rank": "int64", "name": "object", "low": "float64", "high": "float64", "count": "int64"}
        return pd.DataFrame(columns, columns=list(_BIN_COLUMNS)).astype(types)

    def ask_for_spans(self, start_step: int, num_steps: int = 1) -> Dict[str, Any]:
        """Asks the agents of a running job for every span of an annotation in these steps, which must not have begun.

        The window of the answer has an `id` for `spans`, and is `Open` until the agents have sent them. While another
        one is open this is a `Problem`, as it is where no agent records spans.
        """
        return self._service.ask(self._path + "/windows", {"what": "annotations", "start_step": start_step, "num_steps": num_steps})

    def windows(self) -> Any:
        """The windows of the job, the newest first: id, what, start_step, num_steps, status, reason, asked, spans, dropped. `what` is
        `annotations` where agents were asked, and `trace` where trace files came, which `window` reads.

        `status` is Open, Recorded or NotRecorded; `reason` says why something is missing; `dropped` counts spans
        that found no room.
        """
        items = [item for page in self._service.pages(self._path + "/windows", limit=500) for item in page["items"]]
        return table(items, ("id", "what", "start_step", "num_steps", "status", "reason", "asked", "spans", "dropped"), times=("asked",))

    def window(self, window: Union[str, int]) -> Window:
        """A window of traces, for its kernels, operators, spans, and where its time went."""
        return Window(self._service, self._path, window)

    def spans(self, window: Union[str, int], rank: Optional[int] = None, annotation: Optional[str] = None) -> Any:
        """Each time that an annotation was open in a window: rank, process, thread, name, step, start, duration.

        `duration` is in seconds, `step` is the one in whose time the span ended. Rows come by rank, and then as the agent
        read them, which within a thread is in the order of their ends.
        """
        pages = self._service.pages(f"{self._path}/windows/{path_part(str(window))}/spans", rank=rank, annotation=annotation, limit=5000)
        items = [item for page in pages for item in page["items"]]
        frame = table(items, ("rank", "process", "thread", "name", "step", "start", "duration_seconds"), times=("start",))
        return frame.rename(columns={"duration_seconds": "duration"}).astype(_SPAN_TYPES)

    def diagnosis(self) -> Any:
        """Where the time of the job went: a row for each cause, busy first, then the largest loss first.

        cause, words, seconds (of GPUs, or of ranks where there is no GPU), share (0 to 1), cost, speed_up (how
        many times as fast the job would be without it), stage, suspect, advice, support (rules that say so).
        `attrs` has the rest of the answer: sentence, unit, total_seconds, confidence, ...
        """
        answer = self._service.get(self._path + "/diagnosis")
        columns = ("cause", "words", "seconds", "share", "cost", "speed_up", "stage", "suspect", "advice", "support")
        frame = table(answer.pop("budget"), columns)
        frame.attrs.update(answer)
        return frame

    def report(self, path: Union[str, "os.PathLike[str]", None] = None) -> Any:
        """The report of the job: the words of the REST answer. With a `path`, such as ``"report.html"``, it is
        written there instead, as one HTML page that loads nothing, and nothing is returned; what was there is replaced.
        """
        if path is None:
            return self._service.get(self._path + "/report")
        page = self._service.page(self._path + "/report.html")
        with open(path, "wb") as file:
            file.write(page)

    def usage(self, node: Optional[str] = None, start: Optional[Moment] = None, end: Optional[Moment] = None) -> Any:
        """How busy each node was: node, metric, unit, count, max, p99, p95, p90, p50, min."""
        answer = self._service.get(self._path + "/usage", node=node, from_us=micros_of(start), to_us=micros_of(end))
        frame = table(answer["rows"], ("node", "metric", "unit", "count", "max", "p99", "p95", "p90", "p50", "min"))
        frame.attrs["of"] = answer["of"]
        return frame

    def heatmap(
        self,
        metric: str,
        node: Optional[str] = None,
        start: Optional[Moment] = None,
        end: Optional[Moment] = None,
        columns: int = 300,
        rows: int = 500,
    ) -> Any:
        """A metric of many devices: a row for each node and device, a column for each time, means as values.

        A value is known to 1/254 of what lies between the least and the greatest; missing is where nothing was
        measured. `attrs` has the metric, its unit, and how many devices were `left_out`.
        """
        stretch = {"from_us": micros_of(start), "to_us": micros_of(end)}
        answer = self._service.get(self._path + "/heatmap", metric=metric, node=node, columns=columns, rows=rows, **stretch)
        places = pd.MultiIndex.from_tuples([(row["node"], row["device"]) for row in answer["rows"]], names=["node", "device"])
        frame = pd.DataFrame(_cells(answer), index=places, columns=pd.Index(stamps(answer["times_us"]), name="time"), dtype="float64")
        frame.attrs.update(metric=metric, unit=answer["unit"], left_out=answer["left_out"])
        return frame

    def _ranks(self) -> List[int]:
        return [row["rank"] for row in self.describe()["ranks"]]

    def _node_of(self, rank: int) -> Optional[str]:
        nodes: Dict[int, str] = {row["rank"]: row["node"] for row in self.describe()["ranks"]}
        return nodes.get(rank)

    def _summaries(self, rank: Optional[int]) -> List[Any]:
        asked: List[Optional[int]] = [rank]
        if rank is None and len(ranks := self._ranks()) > _MOST_RANKS:
            asked = list(ranks)
        return [summary for each in asked for summary in self._service.get(self._path + "/steps", rank=each, bins=1)["ranks"]]


_RULE_COLUMNS = (
    "rule_configuration_name",
    "rule",
    "rule_evaluation_status",
    "kind",
    "sentence",
    "share",
    "severity",
    "active",
    "parameters",
    "evidence",
    "evaluated",
)
_SPAN_TYPES = {**dict.fromkeys(("rank", "process", "thread", "step"), "int64"), "duration": "float64"}
_RULE_NAMES = {"rule_configuration_name": "name", "rule_evaluation_status": "status"}


_BIN_COLUMNS = ("rank", "name", "low", "high", "count")


def _add_bins(columns: Dict[str, List[Any]], rank: int, annotation: Mapping[str, Any]) -> None:
    edges, counts = annotation["histogram"]["edges_seconds"], annotation["histogram"]["counts"]
    columns["rank"] += [rank] * len(counts)
    columns["name"] += [annotation["name"]] * len(counts)
    columns["low"] += edges[:-1]
    columns["high"] += edges[1:]
    columns["count"] += counts


def _add_steps(columns: Dict[str, List[Any]], rank: int, items: Sequence[Any]) -> None:
    columns["rank"] += [rank] * len(items)
    for name, word in (("step", "step"), ("start", "start_us"), ("wall", "wall_seconds")):
        columns[name] += [item[word] for item in items]
    for phase in _PHASES:
        columns[phase] += [item["phases_seconds"].get(phase, 0.0) for item in items]
        columns["gpu_" + phase] += [item["gpu"]["phases_seconds"].get(phase, 0.0) if item.get("gpu") else _UNKNOWN for item in items]
    columns["unnamed"] += [max(0.0, item["wall_seconds"] - sum(item["phases_seconds"].values())) for item in items]
    columns["evaluation"] += [item.get("evaluation_seconds", 0.0) for item in items]
    columns["gpu_idle"] += [item["gpu"]["idle_seconds"] if item.get("gpu") else _UNKNOWN for item in items]


def _cells(answer: Dict[str, Any]) -> List[List[float]]:
    wide, matrix = len(answer["times_us"]), base64.b64decode(answer["matrix"])
    low, step = answer["low"], (answer["high"] - answer["low"]) / 254
    values = [low + byte * step for byte in range(255)] + [float("nan")]
    return [[values[byte] for byte in matrix[row * wide : (row + 1) * wide]] for row in range(len(answer["rows"]))]

"""The requests to each store for the same chart, and the reading of its answers: {(node, device, which): [numbers]}.

Bins: ours begin at their time; a bin of PromQL ends at its time and, in VictoriaMetrics, holds what is later than its
begin, so it ends 1 ms before ours. Sliding percentiles are of 501 samples: by nearest rank, as we have them, and
between ranks, as PromQL has them, are then the same samples.
"""

import http.client
import json
import random
from dataclasses import dataclass
from urllib.parse import urlencode

HOUR, DAY = 3600, 86_400
PERCENTILES = {"p5": 0.05, "p50": 0.5, "p95": 0.95}


class Client:
    """One kept connection."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)

    def get(self, path, headers=None):
        status, body = self.ask(path, headers)
        assert status == 200, body[:300]
        return body

    def ask(self, path, headers=None):
        self.connection.request("GET", path, headers=headers or {})
        reply = self.connection.getresponse()
        return reply.status, reply.read()


@dataclass(frozen=True)
class Chart:
    """A request, and the samples that it is made on."""

    name: str
    words: str
    goal_ms: float
    job: str
    metric: str
    made: dict  # options of make_frames
    begin: int = 0  # the first sample's time, seconds since the epoch
    node: str = ""
    device: str = ""
    seconds: int = HOUR
    points: int = 8000
    step: int = 0  # seconds; 0: every sample
    window: int = 0  # samples that a percentile is of, one a second

    def at_random(self):
        """The begin of a range, on the grid of the bins."""
        rest = self.made["seconds"] - self.seconds - self.window
        return self.begin + self.window + random.randrange(0, rest + 1, self.step or 1)


class OfStepscope:
    def path(self, chart, begin):
        query = {"metric": chart.metric, "from_us": begin * 10**6, "to_us": (begin + chart.seconds) * 10**6 - 1, "points": chart.points}
        query |= {key: getattr(chart, key) for key in ("node", "device", "window") if getattr(chart, key)}
        if not chart.window:
            query["times"] = "runs"  # as the page and the Python package ask
        if not chart.step:
            query["values"] = "mean"  # the other stores are asked for samples, too
        return f"/api/v1/jobs/{chart.job}/{'percentiles' if chart.window else 'metrics'}?{urlencode(query)}"

    def numbers(self, chart, body):
        series = json.loads(body)["series"]
        names = PERCENTILES if chart.window else ("min", "mean", "max") if chart.step else ("mean",)
        return {(each["node"], each["device"], name): each[name] for each in series for name in names}


def selector(chart):
    labels = {"job": chart.job, "node": chart.node, "device": chart.device}
    return ",".join(f'{key}="{value}"' for key, value in labels.items() if value)


def labelled(expressions):
    """A request for several expressions, told apart by a label."""
    return " or ".join(f'label_replace({expression},"rollup","{name}","","")' for name, expression in expressions.items())


def matrix(body, name_of):
    result = json.loads(body)["data"]["result"]
    keys = [(each["metric"]["node"], each["metric"]["device"], name_of(each["metric"])) for each in result]
    return {key: [float(value) for _, value in each["values"]] for key, each in zip(keys, result)}


class OfVictoria:
    def path(self, chart, begin):
        series = "{" + f'__name__="{chart.metric}",{selector(chart)}' + "}"
        if not chart.step:
            return f"/api/v1/export?{urlencode({'match[]': series, 'start': begin, 'end': begin + chart.seconds - 0.001})}"
        if chart.window:
            shares = ",".join(map(str, PERCENTILES.values()))
            asked, first, late = f'quantiles_over_time("rollup",{shares},{series}[{chart.window}s])', begin, 0
        else:
            asked, first, late = f"rollup({series}[{chart.step}s])", begin + chart.step, 0.001
        query = {"query": asked, "start": first - late, "end": begin + chart.seconds - 0.001, "step": chart.step, "nocache": 1}
        return f"/api/v1/query_range?{urlencode(query)}"

    def numbers(self, chart, body):
        if not chart.step:
            lines = [json.loads(line) for line in body.splitlines()]
            return {(line["metric"]["node"], line["metric"]["device"], "mean"): line["values"] for line in lines}
        words = {"min": "min", "avg": "mean", "max": "max", **{str(share): name for name, share in PERCENTILES.items()}}
        return matrix(body, lambda labels: words[labels["rollup"]])


class OfPrometheus:
    """A range there holds both its ends: each is 1 ms shorter."""

    def path(self, chart, begin):
        series = f"{chart.metric.replace('.', '_')}{{{selector(chart)}}}"
        end = begin + chart.seconds - 0.001
        if not chart.step:
            return f"/api/v1/query?{urlencode({'query': f'{series}[{chart.seconds * 1000 - 1}ms]', 'time': end})}"
        if chart.window:
            asked, first = {name: f"quantile_over_time({share},{series}[{chart.window * 1000 - 1}ms])" for name, share in PERCENTILES.items()}, begin
        else:
            ways = {"min": "min", "mean": "avg", "max": "max"}
            asked = {name: f"{way}_over_time({series}[{chart.step * 1000 - 1}ms])" for name, way in ways.items()}
            first = begin + chart.step - 0.001
        return f"/api/v1/query_range?{urlencode({'query': labelled(asked), 'start': first, 'end': end, 'step': chart.step})}"

    def numbers(self, chart, body):
        return matrix(body, lambda labels: labels.get("rollup", "mean"))


class OfInflux:
    """InfluxDB has percentiles of bins, none that slide."""

    def path(self, chart, begin):
        if chart.window:
            return None
        place = " and ".join(f"{key} = '{value}'" for key in ("job", "node", "device") if (value := getattr(chart, key)))
        asked = ", ".join(f'{way}("{chart.metric}")' for way in ("min", "mean", "max")) if chart.step else f'"{chart.metric}"'
        groups = f"time({chart.step}s), node, device fill(none)" if chart.step else "node, device"
        when = f"time >= {begin}s and time < {begin + chart.seconds}s"
        statement = f"select {asked} from samples where {place} and {when} group by {groups}"
        return f"/query?{urlencode({'db': 'bench', 'epoch': 'ms', 'q': statement})}"

    def numbers(self, chart, body):
        numbers = {}
        for each in json.loads(body)["results"][0]["series"]:
            columns = dict(zip(each["columns"], zip(*each["values"])))
            del columns["time"]
            for name, values in columns.items():
                name = name if chart.step else "mean"
                numbers[each["tags"]["node"], each["tags"]["device"], name] = list(values)
        return numbers


ASKS = {"stepscope": OfStepscope(), "VictoriaMetrics": OfVictoria(), "Prometheus": OfPrometheus(), "InfluxDB": OfInflux()}

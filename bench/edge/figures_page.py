"""The last part of docs/traps.md: what the benchmarks of the edge measured, in tables. Made of their results."""

import json

from harness import RESULTS

# Results -> how they came about, in words.
BENCHES = {
    "abuse": ("While others do harm", "bench/edge/abuse.py", "4,000 idle, 1,000 dripping and 50 deaf connections, and all the bombs, while 200 agents push and a person browses"),
    "edge_requests": ("Requests a second", "bench/edge/requests.py", "kept connections, wrk with one thread on the same machine, answers of 15 bytes; nginx answers from its configuration"),
    "edge_push": ("1,000 agents", "bench/edge/push.py", "one push a second each, over kept connections; the service stores them durably, the stock server throws them away"),
}
HEAD = """
## Figures

Medians with their ranges, on {machine}. Load generator, servers and PostgreSQL share the cores.
"""


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cell(row):
    if not row:
        return "–"
    goal = "" if row["goal"] is None else " (goal kept)" if row["median"] <= row["goal"] else " **(goal missed)**"
    span = "" if row["min"] == row["max"] else f" ({number(row['min'])} to {number(row['max'])})"
    return number(row["median"]) + span + (goal if row["contender"].startswith("stepscope") else "")


def table(rows):
    contenders = list(dict.fromkeys(row["contender"] for row in rows))
    lines = ["| | goal | " + " | ".join(contenders) + " |", "|---|---|" + "---|" * len(contenders)]
    for name in dict.fromkeys(row["figure"] for row in rows):
        found = {row["contender"]: row for row in rows if row["figure"] == name}
        first = next(iter(found.values()))
        goal = "" if first["goal"] is None else f"≤ {first['goal']:g}"
        lines.append(f"| {first['unit']} | {goal} | " + " | ".join(cell(found.get(each)) for each in contenders) + " |")
    return "\n".join(lines) + "\n"


def part(name):
    title, program, words = BENCHES[name]
    rows = json.loads((RESULTS / f"{name}.json").read_text())
    once = rows[0]
    return f"\n### {title}\n\n`{program}`: {words}; {once['rounds']} rounds of {once['seconds']} s.\n\n" + table(rows)


def figures():
    known = [name for name in BENCHES if (RESULTS / f"{name}.json").exists()]
    if not known:
        return ""
    machine = json.loads((RESULTS / f"{known[0]}.json").read_text())[0]["machine"]
    return HEAD.format(machine=machine) + "".join(part(name) for name in known)

"""Whether all that is said of one job fits together: the same quantity has the same value wherever it stands."""

import re

PHASES = ("data", "transfer", "forward", "loss", "backward", "communication", "optimizer", "callback", "checkpoint", "sync", "device_to_host", "other")
TOLERANCE = 2.0  # percentage points: sentences are rounded, and a rank is told at another moment than all of them
SURE = 0.25  # share from which a cause is above the threshold of every rule that looks for it
# Cause -> the rule that looks for the same wait in the same steps.
LOOKS_FOR = {
    "raw_data_input": "DataloaderBottleneck",
    "preprocessing": "DataloaderBottleneck",
    "communication": "CommunicationBottleneck",
    "framework_overhead": "FrameworkOverhead",
    "late_rank": "Straggler",
    "throttled": "Throttled",
}
NUMBER = r"(\d+(?:\.\d+)?) %"
# A quantity, as a share of the time of steps -> how a part of a sentence tells it.
TOLD = (
    ("data", re.compile(rf"{NUMBER} of (?:each step|the step time|its step time|the time of (?:its|all) steps).*\bbatch(?:es)?\b")),
    ("data", re.compile(rf"\bwait\w* {NUMBER}.*\b(?:batch(?:es)?|data)\b")),
    ("data", re.compile(rf"{NUMBER} .*\bwait\w* for (?:batch(?:es)?|data)\b")),
    ("communication", re.compile(rf"\bwaited {NUMBER} of each step.*\bcommunicat\w+\b")),
    ("unnamed", re.compile(rf"{NUMBER} outside of all phases")),
    *((phase, re.compile(rf"\b{phase} {NUMBER}")) for phase in PHASES),
)
# Parts of a sentence that speak of a limit, or of the GPU's clock, tell no share of steps.
OF_SOMETHING_ELSE = re.compile(r"threshold|GPU|the range is|newest|of \d+ ranks")


def parts(sentence):
    """The pieces of a sentence that each tell one thing, without what stands in brackets."""
    return [part for part in re.split(r"[;,:]\s|\.\s|\.$", re.sub(r" \([^)]*\)", "", sentence)) if part]


def told(sentence):
    """{(quantity, percent)} that a sentence tells."""
    found = set()
    for part in (part for part in parts(sentence) if not OF_SOMETHING_ELSE.search(part)):
        for quantity, pattern in TOLD:
            if match := pattern.search(part):
                found.add((quantity, float(match[1])))
    return found


def measured(report):
    """{quantity: (least, greatest)} in percent of the time of a rank's steps, over the ranks, as the report has it."""
    found = {}
    for rank in report["framework"]["ranks"]:
        shares = {row["phase"]: row["share_percent"] or 0.0 for row in rank["phases"]}
        for phase in (*PHASES, "unnamed"):
            least, most = found.get(phase, (100.0, 0.0))
            found[phase] = min(least, shares.get(phase, 0.0)), max(most, shares.get(phase, 0.0))
    return found


def fits(percent, ends, apart=0.0):
    return ends[0] - TOLERANCE - apart <= percent <= ends[1] + TOLERANCE + apart


def left_out(report, steps):
    """The most percent of a rank's step time that so many of its steps can have: rules leave the first one out, which starts
    workers and compiles, and the longest wait."""
    walls = [(rank["wall_seconds"], rank["steps"]) for rank in report["framework"]["ranks"] if rank["wall_seconds"]]
    return max((100 * steps * wall["max"] / (wall["mean"] * count) for wall, count in walls), default=0.0)


def of_sentences(rules, report):
    """Numbers in the sentences of rules that differ from the report's."""
    ends = measured(report)
    for rule in rules:
        for quantity, percent in sorted(told(rule["verdict"]["sentence"])):
            if quantity in ends and not fits(percent, ends[quantity], left_out(report, 2) if quantity == "data" else 0.0):
                low, high = ends[quantity]
                yield f"{rule['rule']} says {quantity} {percent:g} %, the report {low:.1f} to {high:.1f} %: {rule['verdict']['sentence']}"


def of_budget(diagnosis, report):
    """Without a GPU the budget divides the time of steps, so that waits for data are as long in it as in the report. Where it
    names a late rank, some of them are that rank's delay."""
    ends, steps_s = measured(report).get("data"), report["framework"]["seconds"]
    if diagnosis["unit"] != "rank_seconds" or not ends or not steps_s:
        return
    seconds = {row["cause"]: row["seconds"] for row in diagnosis["budget"]}
    waits = 100 * (seconds.get("raw_data_input", 0) + seconds.get("preprocessing", 0)) / steps_s
    least = ends[0] - TOLERANCE - left_out(report, 1)
    if waits > ends[1] + TOLERANCE or (waits < least and "late_rank" not in seconds):
        yield f"the budget has {waits:.1f} % of the step time for waits for data, the report {ends[0]:.1f} to {ends[1]:.1f} %"


def of_causes(diagnosis, rules):
    """A rule that is clear about the cause which is named first."""
    lost = [row for row in diagnosis["budget"] if row["cause"] != "busy"]
    first = max(lost, key=lambda row: row["share"], default=None)
    if not first or first["share"] < SURE:
        return
    for rule in rules:
        if rule["rule"] == LOOKS_FOR.get(first["cause"]) and rule["verdict"]["kind"] == "clear":
            yield f"{first['cause']} is named first with {100 * first['share']:.1f} %, but {rule['rule']} is clear: {rule['verdict']['sentence']}"


def of_diagnosis(diagnosis):
    """Numbers of the sentence of the diagnosis that its own budget does not have."""
    shares = [100 * row["share"] for row in diagnosis["budget"]]
    whole = sum(shares)
    if shares and abs(whole - 100) > 0.1:
        yield f"the budget adds up to {whole:.1f} %"
    for part in parts(diagnosis["sentence"]):
        match = re.search(rf"(?:computing|busy|explains) {NUMBER}|^{NUMBER}$", part)
        percent = match and float(match[1] or match[2])
        if percent is not None and not any(abs(percent - share) < 0.06 for share in shares):
            yield f"the diagnosis says {percent:g} %, which no row of its budget has: {diagnosis['sentence']}"


def of_pages(described, diagnosis, report):
    """Budgets of the page and of the report that are not the one of the diagnosis."""
    for name, other in (("page", described["diagnosis"]), ("report", report["diagnosis"])):
        if not diagnosis["budget"] or other is None:
            continue
        here, there = ({row["cause"]: row["share"] for row in each["budget"]} for each in (diagnosis, other))
        if any(abs(here.get(cause, 0) - there.get(cause, 0)) > 1e-6 for cause in {*here, *there}):
            yield f"the {name} has another budget: {there}, not {here}"


def contradictions(described, diagnosis, rules, report):
    """Sentences; none when all fits together."""
    return [
        *of_sentences(rules, report), *of_budget(diagnosis, report), *of_causes(diagnosis, rules), *of_diagnosis(diagnosis),
        *of_pages(described, diagnosis, report),
    ]

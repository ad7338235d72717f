"""What the service says of a job, and whether that is right."""

from typing import NamedTuple

from tests.causes.table import NONE, RIGHT

# Parts of a job that are no cause of a slow training: they are told apart from the causes.
# Parts of a loop in which a training trains; everything else in it keeps it from that.
TRAINS = ("forward", "backward", "optimizer")
LEAST_SHARE = 0.15  # a cause that took less is not what a training is slow by
MOST_LOST = 0.08  # a healthy training loses less
MOST_MISSED, LEAST_MISSED = 0.03, 3  # steps that may be missed, as a share and in any case


class Said(NamedTuple):
    cause: str  # first cause above the threshold; NONE: no cause is named
    share: float
    sentence: str
    budget: list
    steps: int
    rules: dict  # name of each rule that found issues -> its sentence


class Judged(NamedTuple):
    right: bool
    reason: str  # why it is not right, or is not counted
    counted: bool = True


def above(diagnosis, rows):
    """The rows that the diagnosis names: above its threshold, the largest first."""
    threshold = (diagnosis["threshold"] or 0) / 100
    return sorted((row for row in rows if row["share"] > threshold), key=lambda row: -row["share"])


def read(diagnosis, rules):
    """What is said first."""
    named = above(diagnosis, [row for row in diagnosis["budget"] if row["cause"] != "busy"])
    cause, share = (named[0]["cause"], named[0]["share"]) if named else (NONE, 0.0)
    found = {row["rule"]: row["verdict"]["sentence"] for row in rules if row["rule_evaluation_status"] == "IssuesFound"}
    return Said(cause, share, diagnosis["sentence"], diagnosis["budget"], diagnosis["steps"] or 0, found)


def lost_share(measured):
    """The part of its time that a training's own clocks saw it do anything but train."""
    trained = sum(measured["parts_s"].get(part, 0.0) for part in TRAINS)
    return max(0.0, 1 - trained / measured["wall_s"])


def doubt(truth, measured):
    """Why what the training measured of itself is not what it was built for: a busy machine can do that to it. Empty when all is well."""
    if measured is None:
        return ""
    if truth == "healthy":
        lost = lost_share(measured)
        return f"not healthy here: {lost:.0%} of its time went elsewhere" if lost > MOST_LOST else ""
    if RIGHT[truth].causes != {NONE} and measured["share"] is not None and measured["share"] < LEAST_SHARE:
        return f"only {measured['share']:.0%} of its time were lost to it"
    return ""


def miscounted(measured, seen):
    """How the number of steps is wrong; empty when it is not."""
    made = measured["steps"] * measured["world"]
    return f"{seen} steps are seen, {made} were made" if abs(seen - made) > MOST_MISSED * made + LEAST_MISSED else ""


def judge(truth, said, measured=None):
    if reason := doubt(truth, measured):
        return Judged(False, reason, counted=False)
    right = RIGHT[truth]
    if measured and not said.budget:
        return Judged(False, f"nothing is divided up: {said.sentence}")
    if measured and (fault := miscounted(measured, said.steps)):
        return Judged(False, fault)
    if said.cause not in right.causes:
        wanted = " or ".join(sorted(each or "none" for each in right.causes))
        return Judged(False, f"{said.cause or 'none'} is said, {wanted} is right")
    if right.rule and right.rule not in said.rules:
        return Judged(False, f"{right.rule} found nothing")
    if right.rule and right.words not in said.rules[right.rule].lower():
        return Judged(False, f"{right.rule} does not say {right.words}: {said.rules[right.rule]}")
    return Judged(True, "")

"""How many tests passed, failed and were skipped, read from what the test programs write."""

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

# TAP and the readable report of node --test end with the same lines but for the first character.
_NODE_COUNT = re.compile(r"^(?:#|ℹ) (pass|fail|cancelled|skipped|todo) (\d+)\s*$", re.MULTILINE)
_NODE_FAILED = re.compile(r"^ *(?:not ok \d+ -|✖) (.+?)(?: \([\d.]+ms\))?$", re.MULTILINE)


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list = field(default_factory=list)  # names, at least one for each that failed

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures

    def fail(self, name):
        self.failed += 1
        self.failures.append(name)

    def line(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"

    def total(self):
        return self.passed + self.failed + self.skipped


def from_junit(text):
    """The report of pytest (--junit-xml) or GoogleTest (--gtest_output=xml:). ValueError when it is neither."""
    counts = Counts()
    try:
        cases = list(ElementTree.fromstring(text).iter("testcase"))
    except ElementTree.ParseError as fault:
        raise ValueError(f"the test report cannot be read: {fault}") from None
    for case in cases:
        name = f"{case.get('classname', '')}.{case.get('name', '')}"
        if case.get("status") == "notrun":  # GoogleTest: disabled
            counts.skipped += 1
        elif case.find("failure") is not None or case.find("error") is not None:
            counts.fail(name)
        elif case.find("skipped") is not None:
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


def from_node(text):
    """The output of one or more runs of node --test."""
    counts = Counts()
    for what, number in _NODE_COUNT.findall(text):
        if what == "pass":
            counts.passed += int(number)
        elif what in ("fail", "cancelled"):
            counts.failed += int(number)
        else:
            counts.skipped += int(number)
    if counts.failed:
        counts.failures = list(dict.fromkeys(_NODE_FAILED.findall(text))) or ["(no name in the output)"]
    return counts


def from_verdicts(text):
    """The lines of JSON of scripts/verdicts. An answer that is known to be wrong, or is not counted, counts as skipped."""
    counts = Counts()
    for row in map(json.loads, text.splitlines()):
        name = f"{row['kind']}/{row['name']}"
        if row["pending"] or not (row["counted"] or row["failed"]):
            counts.skipped += 1
        elif row["right"] and not row["contradictions"]:
            counts.passed += 1
        else:
            counts.fail(f"{name}: {'; '.join([row['reason'], *row['contradictions']]).strip('; ')}")
    return counts

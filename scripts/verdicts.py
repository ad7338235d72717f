"""Verdicts beside the truth: see scripts/verdicts, which starts this."""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from building import ROOT, Failed, build
from processes import Children, Stopped, end, stop_on_signals
from screenshot import start_service
from service_client import Refused

sys.path.insert(0, str(ROOT))
from tests.causes import playing, scoring, table  # noqa: E402
from tests.causes.consistency import contradictions  # noqa: E402
from tests.causes.verdict import judge, lost_share, read  # noqa: E402

PROGRAMS = ["stepscope-server", "stepscope-agent", "stepscope-scenario"]
PYTHONS = (ROOT / ".venv/bin/python", "/usr/bin/python3", sys.executable)
PAGE = ROOT / "docs/verdicts.md"
SAY_EVERY = 15


def say(line=""):
    print(line, flush=True)


def has_torch(python):
    try:
        return subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0
    except OSError:
        return False


def python_words(options):
    """The words that start a Python with PyTorch; none where there is none, and nobody asked for real trainings."""
    if options.python:
        return shlex.split(options.python)
    if found := next((python for python in PYTHONS if has_torch(python)), None):
        return [str(found)]
    if options.kind:
        raise Failed("no Python here has PyTorch: name one with --python")
    say("verdicts: no Python here has PyTorch: real trainings are left out")
    return []


def cases_of(options):
    """(cases that the options want, words that start Python, version of its PyTorch)."""
    kinds, python, found, torch = options.kind or playing.KINDS, [], [], ""
    if "real" in kinds and (python := python_words(options)):
        found, torch = playing.real_cases(python)
    if "recordings" in kinds:
        found += playing.recorded_cases(table.OURS, table.OURS_PREFIX)
        found += playing.recorded_cases(options.recordings.resolve()) if options.recordings else []
    if "scenarios" in kinds:
        found += playing.scenario_cases()
    found = playing.chosen(found, options.only, options.short)
    if not found:
        raise Failed("nothing fits --kind and --only")
    return found, python, torch


def truth_share(case, measured):
    """How large the cause was by the training's own clocks; of a healthy training, how much it lost."""
    if not measured or "share" not in measured:
        return None
    return lost_share(measured) if case.truth == "healthy" else measured["share"]


def row_of(case, measured=None):
    """The row of a training before anything is said of it."""
    return {
        "kind": case.kind, "name": case.name, "truth": case.truth, "truth_share": truth_share(case, measured), "said": "", "said_share": None,
        "right": False, "counted": False, "judged": False, "failed": False, "reason": "", "sentence": "", "budget": [], "rules": {},
        "contradictions": [], "measured": measured,
    }


def finished(case, measured, answers):
    said = read(answers.diagnosis, answers.rules)
    judged = judge(case.truth, said, measured)
    budget = [{key: row[key] for key in ("cause", "seconds", "share")} for row in said.budget]
    return {
        **row_of(case, measured or case.details.get("measured")), "said": said.cause, "said_share": said.share, "right": judged.right,
        "counted": judged.counted, "judged": True, "reason": judged.reason, "sentence": said.sentence, "budget": budget, "rules": said.rules,
        "contradictions": contradictions(*answers), "steps_seen": said.steps,
    }


def play(setting, case, playing_now):
    """The row of a case; what cannot be played says why."""
    playing_now.add(case.name)
    try:
        return finished(case, *playing.play(setting, case))
    except playing.Skipped as reason:
        return {**row_of(case), "reason": f"skipped: {reason}"}
    except (Failed, Refused, OSError) as fault:
        return {**row_of(case), "reason": str(fault), "failed": True}
    finally:
        playing_now.discard(case.name)


def explain(row):
    """Lines for an answer that is not right."""
    say(f"    {row['reason']}")
    if row["judged"] and row["counted"]:
        say(f"    it says: {row['sentence']}")
        say("    budget: " + ", ".join(f"{each['cause']} {100 * each['share']:.1f} %" for each in row["budget"]))


def progress(row, done, all_of_them):
    training, truth, first, right = scoring.cells(row)
    say(f"  {done} of {all_of_them}  {training}: {truth} -> {first}: {'right' if row['right'] else right}")
    if not row["right"]:
        explain(row)
    for sentence in row["contradictions"]:
        say(f"    contradiction: {sentence}")


def play_all(setting, cases, jobs):
    """The rows of all cases, in their order; says each as it comes."""
    rows, playing_now = {}, set()
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(play, setting, case, playing_now): at for at, case in enumerate(cases)}
        try:
            while len(rows) < len(cases):
                done, _ = wait(waiting.keys() - rows.keys(), SAY_EVERY, FIRST_COMPLETED)
                if not done:
                    say(f"  {len(rows)} of {len(cases)}  plays: {', '.join(sorted(playing_now))}")
                for each in done:
                    rows[each] = each.result()
                    progress(rows[each], len(rows), len(cases))
        except Stopped:
            pool.shutdown(wait=False, cancel_futures=True)
            setting.children.end_all()
            raise
    return [row for _, row in sorted(rows.items(), key=lambda each: waiting[each[0]])]


def list_all(cases):
    for case in cases:
        say(f"{case.kind + '/' + case.name:<52}{case.truth:<34}{case.details.get('sentence', '')}")
    return 0


def write(options, rows, torch):
    if options.json:
        options.json.write_text("".join(json.dumps({**row, "pending": scoring.is_pending(row), "torch": torch}) + "\n" for row in rows))
    if options.page:
        made_with = f"{scoring.summary(rows)}, by {os.cpu_count()} cores{' and PyTorch ' + torch if torch else ''}."
        PAGE.write_text(scoring.with_table(PAGE.read_text(), [made_with, "", *scoring.table(rows)]))


def prove(options, children, folder):
    """The exit code."""
    cases, python, torch = cases_of(options)
    if options.list:
        return list_all(cases)
    programs = options.programs.resolve() if options.programs else build(children, "release", PROGRAMS, folder, say)
    client = start_service(children, programs, folder, "--keep-samples", "0", "--keep-jobs", "0")
    say(f"verdicts: {len(cases)} trainings, {options.jobs} at once{', PyTorch ' + torch if torch else ''}; pages: {client.url}")
    setting = playing.Setting(programs, client, children, folder, python, options.seconds)
    rows = play_all(setting, cases, options.jobs)
    write(options, rows, torch)
    say("\n" + "\n".join(scoring.table(rows)) + "\n")
    faults = scoring.faults(rows, options.short)
    for fault in faults:
        say(f"fault: {fault}")
    say(scoring.summary(rows))
    if options.keep:
        say(f"serving {client.url}; Ctrl-C ends it")
        threading.Event().wait()
    return 1 if faults else 0


def parse():
    parser = argparse.ArgumentParser(prog="scripts/verdicts", add_help=False)
    parser.add_argument("--kind", action="append", choices=playing.KINDS)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--recordings", type=Path)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--python", default="")
    parser.add_argument("--programs", type=Path, default=os.environ.get("STEPSCOPE_BUILD"))
    parser.add_argument("--json", type=Path)
    for switch in ("--short", "--list", "--keep", "--page"):
        parser.add_argument(switch, action="store_true")
    options = parser.parse_args()
    seconds, jobs = (13, 6) if options.short else (15, 4)  # 10 s and 20 steps are needed
    options.seconds, options.jobs = options.seconds or seconds, options.jobs or jobs
    options.programs = Path(options.programs) if options.programs else None
    return options


def main():
    stop_on_signals()
    options = parse()
    children = Children()
    folder = Path(tempfile.mkdtemp(prefix="stepscope-verdicts-"))
    try:
        folder.chmod(0o711)  # started by root, PostgreSQL runs as another user, who must get through
        return prove(options, children, folder)
    except Stopped as stopped:
        say(f"verdicts: stopped by {stopped}")
        return stopped.exit_code
    except (Failed, Refused, OSError) as fault:
        print(f"verdicts: {fault}", file=sys.stderr)
        return 1
    finally:
        end(children, folder)


if __name__ == "__main__":
    sys.exit(main())

"""One training by name, below an agent or alone: it prints its truth as one line of JSON.

    python3 tests/causes/trainings/run.py --list
    python3 tests/causes/trainings/run.py bursts-of-a-remote-source --seconds 15
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?")
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--ranks", type=int, default=1, help="processes that train together")
    parser.add_argument("--list", action="store_true", help="all trainings, as JSON")
    return parser.parse_args()


def start_ranks(count):
    """Starts this training once for each rank, as a launcher does; the exit code is the worst of theirs."""
    with tempfile.TemporaryDirectory() as folder:
        started = []
        for rank in range(count):
            variables = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "MEET": f"{folder}/meet"}
            environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
            started.append(subprocess.Popen([sys.executable, *sys.argv], env=environment))
        return max(abs(process.wait()) for process in started)


def trainings():
    import healthy, loading, output, ranks, shapes  # noqa: F401, E401: each names its trainings
    from clocks import TRAININGS

    return TRAININGS


def described(row):
    """What a program without PyTorch has to know of a training."""
    wanted = ("truth", "ranks", "longer", "sentence", "quota_percent")
    return {**{key: row[key] for key in wanted}, "missing": row["needs"]() if row["needs"] else ""}


def list_all():
    import torch

    rows = {name: described(row) for name, row in trainings().items()}
    print(json.dumps({"torch": torch.__version__, "trainings": rows}))


def main():
    options = parse()
    if options.list:
        return list_all()
    if options.ranks > 1 and "MEET" not in os.environ:
        return start_ranks(options.ranks)
    known = trainings()
    if options.name not in known:
        sys.exit(f"run.py: there is no training {options.name!r}; --list shows what there is")
    import torch
    from clocks import Run

    torch.manual_seed(0)
    torch.set_num_threads(1)
    run = Run(options.name, options.seconds, int(os.environ.get("RANK", 0)), options.ranks)
    known[options.name]["function"](run)
    os.write(1, (json.dumps(run.truth()) + "\n").encode())  # at once: both ranks write into one pipe
    return 0


sys.path.insert(0, str(Path(__file__).parent))
if __name__ == "__main__":
    sys.exit(main())

"""Trace files of a profiler, by the real agent into the real service."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.seeds import xplane
from tests.support.service import ROOT, SANITIZED, program, wait_for

REAL = ROOT.parent / "shared/data"


def import_files(service, *words):
    command = [program("stepscope-agent"), "import", *map(str, words), "--server", service.url]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def trace_of(rank, step=7):
    """A file as Kineto writes it: one step with one kernel."""

    def span(cat, name, start, duration, **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, "args": args}

    events = [
        span("user_annotation", f"ProfilerStep#{step}", 0, 300),
        span("cpu_op", "aten::mm", 10, 20, **{"External id": 5}),
        span("cuda_runtime", "cudaLaunchKernel", 15, 2, correlation=9),
        span("kernel", "sgemm", 50 + rank, 20, correlation=9, device=0, stream=7, **{"External id": 5}),
    ]
    return json.dumps({"distributedInfo": {"rank": rank}, "baseTimeNanoseconds": 1_795_205_614_000_000_000, "traceEvents": events})


def test_a_folder_of_ranks_becomes_one_window_of_a_new_job(service, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "rank0.json").write_text(trace_of(0))
    (tmp_path / "deep/rank1.json.gz").write_bytes(gzip.compress(trace_of(1).encode()))
    (tmp_path / "notes.txt").write_text("no trace")
    done = import_files(service, tmp_path, "--job", "traced")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 files taken" in done.stdout
    windows = service.get("/api/v1/jobs/traced/windows")[1]["items"]
    assert [[trace["rank"] for trace in window["traces"]] for window in windows] == [[0, 1]]
    kernels = service.get("/api/v1/jobs/traced/windows/1/kernels?rank=1")[1]
    assert [row["name"] for row in kernels["kernels"]] == ["sgemm"]

    again = import_files(service, tmp_path, "--job", "traced")
    assert again.returncode == 0 and "2 were there before" in again.stdout
    (tmp_path / "later.json").write_text(trace_of(0, step=100))
    later = import_files(service, tmp_path / "later.json", "--job", "traced")
    assert later.returncode == 0 and "window 2, rank 0: 4 spans, 1 steps" in later.stdout


def test_a_job_of_an_import_ends_and_has_a_diagnosis(service, tmp_path):
    events = []
    for step in range(4):
        at = 1000 * step
        events += [
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": at + 1, "dur": 999},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 600, "dur": 5, "args": {"correlation": step + 1}},
            {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": at + 700, "dur": 250, "args": {"correlation": step + 1, "device": 0}},
        ]
    (tmp_path / "t.json").write_text(json.dumps({"traceEvents": events}))
    done = import_files(service, tmp_path / "t.json", "--job", "only-windows")
    assert done.returncode == 0, done.stdout + done.stderr
    wait_for(lambda: service.get("/api/v1/jobs/only-windows/diagnosis")[1]["confidence"] == "windows only", "the diagnosis of windows")
    job = service.get("/api/v1/jobs/only-windows")[1]
    assert (job["status"], job["ended"] is not None) == ("Stopped", True)
    diagnosis = service.get("/api/v1/jobs/only-windows/diagnosis")[1]
    assert diagnosis["budget"][1]["cause"] == "framework_overhead", diagnosis


def test_a_folder_with_several_captures_joins_the_ranks_of_each(service, tmp_path):
    """Paths sort by rank, as in a log folder of TensorBoard with one folder a host."""
    for rank in (0, 1):
        (tmp_path / f"host{rank}").mkdir()
        for step in (10, 20, 30):
            (tmp_path / f"host{rank}/capture{step}.pt.trace.json").write_text(trace_of(rank, step=step))
    done = import_files(service, tmp_path, "--job", "captures")
    assert done.returncode == 0, done.stdout + done.stderr
    windows = service.get("/api/v1/jobs/captures/windows")[1]["items"]
    found = [(window["start_step"], [trace["rank"] for trace in window["traces"]]) for window in windows]
    assert sorted(found) == [(10, [0, 1]), (20, [0, 1]), (30, [0, 1])]


def test_a_folder_of_hta_has_ranks_in_the_files_or_in_their_names(service, tmp_path):
    nameless = json.loads(trace_of(0))
    del nameless["distributedInfo"]
    (tmp_path / "rank-2.pt.trace.json").write_text(json.dumps(nameless))
    (tmp_path / "trace_rank7.json.gz").write_bytes(gzip.compress(trace_of(1).encode()))
    done = import_files(service, tmp_path, "--job", "hta")
    assert done.returncode == 0, done.stdout + done.stderr
    (window,) = service.get("/api/v1/jobs/hta/windows")[1]["items"]
    assert [(trace["rank"], trace["rank_from"]) for trace in window["traces"]] == [(1, "trace"), (2, "file")]
    assert service.get("/api/v1/jobs/hta/windows/1/ranks")[1]["traces"] == 2


def test_a_logdir_of_jax_gives_one_window(service, tmp_path):
    """The profile is there as XPlane, and once more as JSON with less in it."""
    run = tmp_path / "plugins/profile/2026_11_27"
    run.mkdir(parents=True)
    (run / "host-1.xplane.pb").write_bytes(xplane())
    (run / "host-1.trace.json.gz").write_bytes(gzip.compress(trace_of(0).encode()))
    (run / "perfetto_trace.json.gz").write_bytes(gzip.compress(trace_of(0).encode()))
    (run / "host-1.memory_profile.json.gz").write_bytes(gzip.compress(b"{}"))
    done = import_files(service, tmp_path, "--job", "jax")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "perfetto_trace.json.gz: left out: the .xplane.pb beside it has the same" in done.stdout
    assert "memory_profile.json.gz: left out: a profile of memory" in done.stdout
    (window,) = service.get("/api/v1/jobs/jax/windows")[1]["items"]
    assert (window["start_step"], window["num_steps"]) == (12, 1)
    (kernel,) = service.get("/api/v1/jobs/jax/windows/1/kernels")[1]["kernels"]
    assert (kernel["name"], kernel["total_seconds"]) == ("fusion", 0.00004)


def test_what_cannot_be_taken_is_said(service, tmp_path):
    (tmp_path / "a.json").write_text("hello")
    (tmp_path / "b.json").write_text(trace_of(0)[:-60])
    done = import_files(service, tmp_path, "--job", "broken")
    assert done.returncode == 1
    assert "a.json: not taken: the body has no spans" in done.stdout
    assert "b.json: window 1, rank 0: 3 spans" in done.stdout and "truncated 1" in done.stdout
    missing = import_files(service, tmp_path / "none.json", "--job", "broken")
    assert missing.returncode == 2 and "no such file" in missing.stderr


LARGE = 160 * 1024 * 1024
# Runs a program, then prints the most KiB it held. A process of little memory: what it holds when it forks counts for the program.
MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(done.returncode)
"""


def memory_of(process):
    """The most that it has ever held."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


@pytest.mark.parametrize("name", ["large.json.gz", "large.json"])
def test_a_file_larger_than_memory_may_be_is_not_held_there(service, tmp_path, name):
    """Packed it is sent as it is; a plain one is packed into a file first. Nearly all of it is space between events."""
    head, tail = trace_of(3).split('"traceEvents": [')
    path = tmp_path / name
    with gzip.open(path, "wb", compresslevel=0) if name.endswith(".gz") else path.open("wb") as file:
        file.write(f'{head}"traceEvents": [\n'.encode())
        for _ in range(LARGE // 2**20):
            file.write(b" " * 2**20)
        file.write(tail.encode())
    before = memory_of(service.process)
    command = [program("stepscope-agent"), "import", str(path), "--job", name.replace(".", "-"), "--server", service.url]
    done = subprocess.run([sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "rank 3: 4 spans, 1 steps" in done.stdout, done.stdout + done.stderr
    assert SANITIZED or int(done.stderr.split()[-1]) * 1024 < LARGE / 2
    assert SANITIZED or memory_of(service.process) - before < 100e6
    assert not [entry.name for entry in service.data_dir.iterdir() if entry.name.startswith("body")]


def test_real_traces_give_their_answers(service):
    folder = REAL / "torch-cpu"
    if not folder.exists():
        pytest.skip("there are no real traces here")
    done = import_files(service, folder, "--job", "real")
    assert done.returncode == 0, done.stdout + done.stderr
    for window in service.get("/api/v1/jobs/real/windows")[1]["items"]:
        for trace in window["traces"]:
            at = f"/api/v1/jobs/real/windows/{window['id']}"
            rows = service.get(f"{at}/breakdown?rank={trace['rank']}")[1]["devices"]
            assert len(rows) == 1 and rows[0]["device"] is None
            for row in [rows[0]["total"], *rows[0]["steps"]]:
                assert abs(sum(row["seconds"].values()) - row["wall_seconds"]) < 1e-6
            operators = service.get(f"{at}/operators?rank={trace['rank']}")[1]["operators"]
            code, ranks = service.get(f"{at}/ranks")
            assert code == 200 and ranks["traces"] == len(window["traces"]), ranks
            assert any(row["name"].startswith("aten::") for row in operators)

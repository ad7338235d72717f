"""Trace files to spans, beside Python's json, which is what tools that read them use: CPU time, memory, bytes stored.

    python3 bench/trace/convert.py [FILE.json.gz]

A Kineto file is repeated until it has so many megabytes of JSON; without a file one is made. Prints a table, and writes
bench/results/trace_convert.json.
"""

import gzip
import json
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

MEGABYTES = 250
PEER = """
import json, resource, sys
before = resource.getrusage(resource.RUSAGE_SELF)
with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
    trace = json.load(file)
spans = [e for e in trace["traceEvents"] if e.get("ph") == "X"]
now = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"spans": len(spans), "cpu_seconds": now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime, "memory_kb": now.ru_maxrss}))
"""


def made_events():
    for i in range(20_000):
        at = i * 40
        args = {"External id": i + 1, "Ev Idx": i, "Input Dims": [[128, 256], [256, 1024]], "Input type": ["float", "float"]}
        yield {"ph": "X", "cat": "cpu_op", "name": f"aten::op{i % 40}", "pid": 100, "tid": 100, "ts": at, "dur": 30.5, "args": args}
        args = {"External id": i + 1, "cbid": 211, "correlation": i + 1}
        yield {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 100, "ts": at + 5, "dur": 8.125, "args": args}
        args = {"External id": i + 1, "device": 0, "stream": 7, "correlation": i + 1, "grid": [i % 64, 1, 1], "block": [128, 1, 1]}
        name = f"void at::native::vectorized_elementwise_kernel<{i % 60}, at::native::CUDAFunctor_add<float> >(int)"
        yield {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at + 90, "dur": 20.75, "args": args}


def long_file(folder, given):
    """A file of MEGABYTES: the events again and again, each time later, with other numbers."""
    events = json.load(gzip.open(given))["traceEvents"] if given else list(made_events())
    events = [event for event in events if event.get("ph") == "X"]
    end = max(event["ts"] + event["dur"] for event in events) - min(event["ts"] for event in events) + 1000
    path, rounds = folder / "long.json", 0
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"schemaVersion": 1, "traceEvents": [\n')
        while file.tell() < MEGABYTES * 1_000_000:
            for event in events:
                args = {**event.get("args", {})}
                for key in ("External id", "correlation"):
                    if key in args:
                        args[key] += rounds * 1_000_000
                file.write(("" if event is events[0] and rounds == 0 else ",\n") + json.dumps({**event, "ts": event["ts"] + rounds * end, "args": args}, indent=1))
            rounds += 1
        file.write("]}")
    return path


def main():
    given = sys.argv[1] if len(sys.argv) > 1 else None
    program = harness.ROOT / "build/release/bench/trace_convert"
    if not program.exists():
        program = harness.ROOT / "build/dev/bench/trace_convert"
    with harness.fresh_folder() as folder:
        path = long_file(folder, given)
        ours = [json.loads(subprocess.run([program, "--answers", path], capture_output=True, check=True).stdout) for _ in range(3)]
        peer = [json.loads(subprocess.run([sys.executable, "-c", PEER, path], capture_output=True, check=True).stdout) for _ in range(2)]
        size = path.stat().st_size
        packed = subprocess.run(["gzip", "-c", path], capture_output=True, check=True).stdout
    for name, figures in (("stepscope", ours), ("json of Python", peer)):
        best = min(figures, key=lambda row: row["cpu_seconds"])
        print(f"{name}: {size / 1e6 / best['cpu_seconds']:.0f} MB/s, {best['memory_kb'] / 1000:.0f} MB, {best['spans']} spans: {best}")
    print(f"stored: 1/{size / ours[0]['stored_bytes']:.0f} of the JSON; gzip: 1/{size / len(packed):.0f}")
    (harness.RESULTS / "trace_convert.json").write_text(
        "".join(json.dumps({"contender": name, "json_bytes": size, **row}) + "\n" for name, rows in (("stepscope", ours), ("python_json", peer)) for row in rows)
    )


if __name__ == "__main__":
    main()

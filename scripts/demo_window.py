"""The demo's window: four steps of a PyTorch training, inside."""

import os
import shlex
import subprocess

from building import ROOT

FIRST, STEPS, SECONDS = 20, 4, 12
PROBE = "import torch; print(torch.__version__, torch.profiler.kineto_available() and torch.__version__ >= '2.5')"
PARTS = {
    "computing": "operators ran",
    "host_data": "waited for data",
    "exposed_communication": "waited for other ranks",
    "other_idle": "neither",
}


def python_words():
    """The words that start a Python which may have PyTorch: STEPSCOPE_TORCH_PYTHON, else the demo's own."""
    return shlex.split(os.environ.get("STEPSCOPE_TORCH_PYTHON", "")) or [str(ROOT / ".venv/bin/python")]


def why_none():
    """Why no window can be shown here, or ""."""
    hint = "set STEPSCOPE_TORCH_PYTHON to a Python that has PyTorch 2.5 or later"
    probe = subprocess.run([*python_words(), "-c", PROBE], capture_output=True, text=True)
    if probe.returncode != 0:
        return f"no window of operators is shown: {python_words()[-1]} has no PyTorch; {hint}"
    version, records = probe.stdout.split()[-2:]
    return "" if records == "True" else f"no window of operators is shown: PyTorch {version} has no Kineto or is older than 2.5; {hint}"


def command():
    """The training, below the agent's own words."""
    script = ROOT / "examples/torch_loader.py"
    return ["--start-step", FIRST, "--num-steps", STEPS, "--", *python_words(), script, "--seconds", SECONDS, "--decode-ms", 2]


def lines(client, job):
    """What the first window of the job says; nothing while it has none."""
    windows = client.call("GET", f"/api/v1/jobs/{job}/windows")["items"]
    if not windows or not windows[-1]["traces"]:
        return []
    window, at = windows[-1], f"/api/v1/jobs/{job}/windows/{windows[-1]['id']}"
    total = client.call("GET", f"{at}/breakdown")["devices"][0]["total"]
    cost = window["traces"][0]["capture"]
    paid = sum(cost[part] for part in ("start_seconds", "stop_seconds", "save_seconds"))
    said = [f"window {window['id']} of job {job}: {window['num_steps']} steps from step {window['start_step']}, which cost the training {1000 * paid:.1f} ms"]
    for part, words in PARTS.items():
        if total["seconds"].get(part):
            said.append(f"  {words:<22} {100 * total['seconds'][part] / total['wall_seconds']:5.1f} %")
    for row in client.call("GET", f"{at}/operators?limit=5")["operators"]:
        said.append(f"  {row['name']:<40} {row['calls']:>5} calls {1000 * row['cpu_self_seconds']:8.2f} ms")
    return said

"""The commands of docs/windows.md, as they stand there, from a fresh data folder to the answers.

They need a PyTorch of 2.5 or later, as capture_test.py does. Only the port and the data folder are others than on the page."""

import json
import os
import re
import shlex
import signal
import subprocess

import pytest

from tests.support.service import ROOT, free_port, program

PYTHON = shlex.split(os.environ.get("STEPSCOPE_TORCH_PYTHON", ""))
FROM_ROOT = f'if [ -n "$STEPSCOPE_JOB" ]; then script="$PWD/$1"; shift; set -- "$script" "$@"; cd {shlex.quote(str(ROOT))}; fi\n'
PAGE = (ROOT / "docs/windows.md").read_text()


def commands_of(heading):
    """The first block of commands behind a heading of the page."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.search(r"^```\n(.*?)^```", section, re.DOTALL | re.MULTILINE)[1]


def count_commands(block):
    without_files = re.sub(r"<<'END'\n.*?^END\n", "\n", block, flags=re.DOTALL | re.MULTILINE)
    return len(without_files.strip().splitlines())


def programs(folder, port):
    """A folder for PATH in which the service listens to a port of its own, and python3 is the one with PyTorch."""
    folder.mkdir()
    words = {
        "stepscope-server": f'{shlex.quote(str(program("stepscope-server")))} "$@" --listen 127.0.0.1:{port}',
        "stepscope-agent": f'{shlex.quote(str(program("stepscope-agent")))} "$@"',
        "python3": f'{shlex.join(PYTHON)} "$@"',  # below an agent from the root of the repository, which it must see for the hooks
    }
    for name, command in words.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{FROM_ROOT if name == 'python3' else ''}exec {command}\n")
        path.chmod(0o755)
    return folder


def documents(text):
    """The JSON documents in what the commands said, one behind the other."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while (at := text.find("{", at)) >= 0:
        try:
            document, at = decoder.raw_decode(text, at)
            found.append(document)
        except ValueError:
            at += 1
    return found


def run(block, folder):
    port = free_port()
    block = block.replace("127.0.0.1:8080", f"127.0.0.1:{port}").replace("/tmp/stepscope", str(folder / "data"))
    environment = {**os.environ, "PATH": f"{programs(folder / 'bin', port)}:{os.environ['PATH']}"}
    said = folder / "said"
    with said.open("w") as out:
        shell = subprocess.Popen(
            ["bash", "-e", "-c", block], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
        try:
            code = shell.wait(240)
        finally:
            os.killpg(shell.pid, signal.SIGTERM)  # the service and the training go on behind the last command
    assert code == 0, said.read_text()[-3000:]
    return documents(said.read_text())


@pytest.mark.parametrize("heading", ["Ask a running job, on a machine without a GPU", "Import a file, on a machine without a GPU"])
def test_it_takes_ten_commands(heading):
    assert count_commands(commands_of(heading)) <= 10


@pytest.mark.skipif(not PYTHON, reason="STEPSCOPE_TORCH_PYTHON names no Python with a PyTorch 2.5 or later")
@pytest.mark.parametrize("heading", ["Ask a running job, on a machine without a GPU", "Import a file, on a machine without a GPU"])
def test_the_commands_of_the_page_lead_to_the_answers(heading, folder):
    found = run(commands_of(heading), folder)
    (operators,) = [one["operators"] for one in found if "operators" in one and not any(row["shapes"] for row in one["operators"])]
    assert any(row["name"] == "aten::addmm" and row["cpu_self_seconds"] > 0 for row in operators)
    (breakdown,) = [one for one in found if "devices" in one]
    total = breakdown["devices"][0]["total"]
    assert total["seconds"]["computing"] > 0 and sum(total["seconds"].values()) == pytest.approx(total["wall_seconds"])
    windows = [one for one in found if one.get("traces")] + [item for one in found for item in one.get("items", []) if item["traces"]]
    assert windows and windows[0]["traces"][0]["faults"] == {}

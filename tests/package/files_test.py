"""The files in the packages beside the programs: units and scripts."""

import os
import re
import shutil
import socket
import subprocess

import pytest

from tests.support.service import ROOT, wait_for


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not here")
def test_shellcheck_finds_nothing_in_what_runs_elsewhere():
    scripts = sorted([*ROOT.glob("docker/slurm/*.sh"), *ROOT.glob("docker/debian/*/p*"), ROOT / "scripts/package"])
    assert len(scripts) > 6
    out = subprocess.run(["shellcheck", *scripts], capture_output=True, text=True)
    assert out.stdout == ""


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not here")
@pytest.mark.parametrize("unit, most", [("stepscope-agent", 3.5), ("stepscope-agent@", 5), ("stepscope-server", 2)])
def test_units_are_hardened(unit, most):
    path = ROOT / f"docker/systemd/{unit}.service"
    out = subprocess.run(["systemd-analyze", "security", "--offline=true", path], capture_output=True, text=True)
    if "--offline" in out.stderr:
        pytest.skip("systemd-analyze is older than 250")
    (exposure,) = re.findall(r"exposure level for \S+: ([\d.]+)", out.stdout)
    assert float(exposure) <= most


@pytest.mark.parametrize("unit", ["stepscope-agent", "stepscope-agent@"])
def test_units_leave_the_gpus_in_reach(unit):
    # ProtectClock= allows one device, and so forbids the others.
    lines = (ROOT / f"docker/systemd/{unit}.service").read_text().splitlines()
    assert not [line for line in lines if line.startswith(("PrivateDevices=", "DeviceAllow=", "DevicePolicy=", "ProtectClock="))]


def unit_lines(unit):
    return [line for line in (ROOT / f"docker/systemd/{unit}.service").read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("unit, program", [("stepscope-agent", "stepscope-agent"), ("stepscope-server", "stepscope-server")])
def test_a_program_that_is_used_wrongly_is_not_started_for_ever(build, unit, program):
    lines = unit_lines(unit)
    assert "RestartPreventExitStatus=2" in lines and any(line.startswith("Restart=") for line in lines)
    words = re.search(r"^ExecStart=/usr/bin/\S+ ?(.*)$", "\n".join(lines), re.MULTILINE)[1].split()[:1]
    wrong = subprocess.run([build / program, *(words if words[:1] == ["daemon"] else []), "--no-such-option"], capture_output=True, text=True, timeout=30)
    assert wrong.returncode == 2, wrong.stderr


def test_a_training_that_is_a_unit_has_its_spool_on_disk(build, tmp_path):
    """The unit's folder is a link, as systemd makes it for a user that exists only while the unit runs."""
    lines = unit_lines("stepscope-agent@")
    (folder,) = [line.removeprefix("StateDirectory=").replace("%i", "bert") for line in lines if line.startswith("StateDirectory=")]
    (spool,) = [line.removeprefix("Environment=STEPSCOPE_SPOOL=") for line in lines if line.startswith("Environment=STEPSCOPE_SPOOL=")]
    assert "DynamicUser=yes" in lines
    private, link = tmp_path / "private" / folder, tmp_path / folder
    private.mkdir(parents=True, mode=0o700)
    link.parent.mkdir()
    link.symlink_to(private)
    spool = spool.replace("%S", str(tmp_path)).replace("%i", "bert")
    words = [build / "stepscope-agent", "run", "--server", "http://127.0.0.1:9", "--job", "bert", "--push", "1s", "--", "sleep", "60"]
    agent = subprocess.Popen(words, env={**os.environ, "STEPSCOPE_SPOOL": spool}, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: [path for path in private.glob("spool/*/*") if path.stat().st_size > 0], "samples are on disk")
    finally:
        agent.terminate()
        agent.send_signal(2)  # it does not wait for its answer
        agent.wait(30)


def test_the_agent_starts_as_its_unit_says(build, tmp_path):
    text = (ROOT / "docker/systemd/stepscope-agent.service").read_text()
    said = dict(line.removeprefix("Environment=").split("=", 1) for line in text.splitlines() if line.startswith("Environment="))
    words = re.search(r"^ExecStart=/usr/bin/stepscope-agent (.+)$", text, re.MULTILINE)[1].split()
    environment = {**os.environ, **said, "STEPSCOPE_SERVER": "http://127.0.0.1:9", "NOTIFY_SOCKET": str(tmp_path / "notify")}
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(30)
        agent = subprocess.Popen([build / "stepscope-agent", *words, "--socket", tmp_path / "agent.sock"], env=environment, stderr=subprocess.DEVNULL)
        try:
            assert b"READY=1" in systemd.recv(4096)
            assert (tmp_path / "agent.sock").stat().st_mode & 0o777 == 0o666
            agent.terminate()
            assert agent.wait(30) == 0
        finally:
            agent.kill()

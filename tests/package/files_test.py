"""What lies in the packages beside the programs: units and scripts."""

import re
import shutil
import subprocess

import pytest

from tests.support.service import ROOT


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

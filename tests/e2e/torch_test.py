"""An unmodified PyTorch script below the agent, with the real service: steps, phases, and what the rule says."""

import os
import subprocess

import pytest

from tests.support.service import ROOT, program, wait_for

pytest.importorskip("torch", reason="PyTorch is not here: apt-get install python3-torch")

EXAMPLE = ROOT / "examples/torch_loader.py"
PYTHON = ROOT / ".venv/bin/python"


def below_agent(service, job, *words, flags=()):
    command = [program("stepscope-agent"), "run", "--server", service.url, "--job", job, "--push", "1s", *flags, "--", PYTHON, *map(str, words)]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    pipe = subprocess.PIPE
    return subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, env=variables)


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def verdict(service, job):
    """DataloaderBottleneck of a job that has ended."""

    def now():
        code, answer = service.get(f"/api/v1/jobs/{job}/rules")
        rules = {each["rule"]: each for each in answer["items"]} if code == 200 else {}
        rule = rules.get("DataloaderBottleneck")
        return rule if rule and rule["rule_evaluation_status"] in ("IssuesFound", "NoIssuesFound") else None

    return wait_for(now, f"the rule has judged {job}")


@pytest.mark.parametrize("job, words, status", [
    ("slow", ("--seconds", "20"), "IssuesFound"),
    ("fast", ("--seconds", "20", "--decode-ms", "0", "--workers", "1", "--batch", "8", "--width", "80"), "NoIssuesFound"),
])
def test_a_script_without_a_change_is_judged(service, job, words, status):
    assert "epoch" in finish(below_agent(service, job, EXAMPLE, *words))
    rule = verdict(service, job)
    assert rule["rule_evaluation_status"] == status and rule["verdict"]["kind"] == ("finding" if status == "IssuesFound" else "clear"), rule
    (rank,) = service.get(f"/api/v1/jobs/{job}/steps")[1]["ranks"]
    assert rank["steps"] >= 20 and {"data", "forward", "loss", "backward", "optimizer"} <= {each["phase"] for each in rank["phases"]}, rank
    facts = service.get(f"/api/v1/jobs/{job}")[1]["ranks"][0]
    assert facts["framework"].startswith("torch ") and facts["facts"]["loader_batch_size"] in ("8", "16"), facts


def test_the_hooks_can_be_switched_off(service, folder):
    (folder / "train.py").write_text("import os, sys; print('PYTHONPATH' in os.environ, '_stepscope_start' in sys.modules)")
    assert finish(below_agent(service, "off", folder / "train.py", flags=("--no-python",))) == "False False\n"
    assert finish(below_agent(service, "on", folder / "train.py")) == "True True\n"

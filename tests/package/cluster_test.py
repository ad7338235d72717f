"""The files for clusters: the scripts for Slurm, and the DaemonSet for Kubernetes."""

import os
import re
import shutil
import subprocess
import threading

import pytest
import yaml

from tests.package.roots import LOG, bare_root, inside
from tests.support.service import ROOT, wait_for

MANIFEST = ROOT / "docker/kubernetes/stepscope-agent.yaml"


@pytest.fixture
def node(tmp_path):
    root = bare_root(tmp_path, "util-linux")
    for name in ("prolog", "epilog"):
        shutil.copy(ROOT / f"docker/slurm/{name}.sh", root / "tmp")
    return root


def called(node, script, job):
    """How the script calls systemctl for a job."""
    done = inside(node, f"/tmp/{script}.sh", environment={"SLURM_JOB_ID": job})
    assert (done.returncode, done.stdout) == (0, "")
    log = node / LOG[1:]
    lines = log.read_text().split("\n")[:-1] if log.exists() else []
    log.unlink(missing_ok=True)
    return lines


@pytest.mark.skipif(os.geteuid() != 0, reason="a root of one's own needs root")
def test_slurm_starts_the_agent_with_the_first_job_and_ends_it_with_the_last(node):
    start, stop = (["start --no-block stepscope-agent.service"], ["stop --no-block stepscope-agent.service"])
    assert called(node, "prolog", "7") == start
    assert called(node, "prolog", "8") == start  # it may have been stopped meanwhile
    assert called(node, "epilog", "7") == []
    assert called(node, "epilog", "8") == stop
    assert called(node, "epilog", "8") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="a root of one's own needs root")
def test_a_job_that_begins_while_another_ends_has_its_agent(node):
    """The last call decides: the epilog has found no other job, and is slow to say so."""
    assert called(node, "prolog", "7")
    (node / "usr/bin/systemctl").write_text(f'#!/bin/sh\nif [ "$1" = stop ]; then touch /tmp/stops; sleep 1; fi\necho "$1" >>{LOG}\n')
    found = []
    ends = threading.Thread(target=lambda: found.append(inside(node, "/tmp/epilog.sh", environment={"SLURM_JOB_ID": "7"})))
    ends.start()
    wait_for((node / "tmp/stops").exists, "the epilog stops the agent", seconds=20)
    assert inside(node, "/tmp/prolog.sh", environment={"SLURM_JOB_ID": "8"}).returncode == 0
    ends.join()
    assert (node / LOG[1:]).read_text().split() == ["stop", "start"]
    assert found[0].returncode == 0 and (node / "run/stepscope-jobs/8").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="a root of one's own needs root")
@pytest.mark.parametrize("wrong", ["stepscope-jobs", "stepscope-jobs.lock"])
def test_slurm_starts_jobs_without_an_agent(node, wrong):
    (node / "usr/bin/systemctl").write_text("#!/bin/sh\nexit 5\n")
    (node / "run" / wrong).mkdir() if wrong.endswith(".lock") else (node / "run" / wrong).touch()
    for script in ("prolog", "epilog"):
        assert inside(node, f"/tmp/{script}.sh", environment={"SLURM_JOB_ID": "7"}).returncode == 0


@pytest.fixture
def manifest():
    return {part["kind"]: part for part in yaml.safe_load_all(MANIFEST.read_text())}


def test_the_parts_of_the_daemon_set_fit_each_other(manifest):
    assert {part["metadata"].get("namespace", "stepscope") for part in manifest.values()} == {"stepscope"}
    spec = manifest["DaemonSet"]["spec"]
    pod, (container,) = spec["template"]["spec"], spec["template"]["spec"]["containers"]
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["mountPath"]: volumes.pop(mount["name"]) for mount in container["volumeMounts"]}
    assert volumes == {}
    assert mounts["/run/stepscope"]["hostPath"]["path"] == "/run/stepscope"
    assert mounts["/etc/stepscope"]["configMap"]["name"] == manifest["ConfigMap"]["metadata"]["name"]
    for file in re.findall(r'-file = "(.+)/.+"', manifest["ConfigMap"]["data"]["agent.toml"]):
        assert "secret" in mounts[file]


def test_the_agent_takes_the_configuration_of_the_daemon_set(manifest, build, tmp_path):
    (tmp_path / "agent.toml").write_text(manifest["ConfigMap"]["data"]["agent.toml"])
    words = [build / "stepscope-agent", "run", "--config", tmp_path / "agent.toml", "--job", "x", "--push", "1ms", "--", "true"]
    out = subprocess.run(words, capture_output=True, text=True, timeout=30)
    assert out.returncode == 2 and "--push" in out.stderr

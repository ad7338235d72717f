"""The tarball of the agent in a root that has libc and nothing else."""

import os
import subprocess

import pytest

from tests.e2e.conftest import passable_folder
from tests.package.roots import inside, libc_root, output
from tests.support.service import Service, program, wait_for

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a root of one's own needs root")


@pytest.fixture
def unpacked(tmp_path, packages):
    """(root, the program as it is named there)"""
    (tarball,) = packages.glob("*.tar.gz")
    (tmp_path / "opt").mkdir()
    subprocess.run(["tar", "-C", tmp_path / "opt", "-xzf", tarball], check=True)
    (agent,) = tmp_path.glob("opt/*/bin/stepscope-agent")
    return libc_root(tmp_path, agent), f"/{agent.relative_to(tmp_path)}"


@pytest.fixture(scope="module")
def secure():
    """A service over TLS; the folder has its authority as tls/ca.crt."""
    with passable_folder() as folder:
        tls = folder / "tls"
        output(program("stepscope-server"), "tls", "self-signed", "--out", tls, "--host", "127.0.0.1")
        started = Service(folder, "--tls-cert", str(tls / "server.crt"), "--tls-key", str(tls / "server.key"), ca_file=str(tls / "ca.crt"))
        yield started.start(), tls / "ca.crt"
        started.stop()


def test_it_runs_with_nothing_but_libc(unpacked):
    root, agent = unpacked
    assert inside(root, agent, "--version").stdout.startswith("stepscope-agent ")
    assert "--server URL" in inside(root, agent, "run", "--help").stdout
    assert (root / agent[1:]).parent.parent.joinpath("share/stepscope/python/stepscope/_native.abi3.so").exists()


@pytest.mark.parametrize("place", ["etc/ssl/certs/ca-certificates.crt", "etc/pki/tls/certs/ca-bundle.crt", "etc/ssl/cert.pem"])
def test_it_trusts_whom_the_system_trusts(unpacked, secure, place):
    root, agent = unpacked
    service, authority = secure
    (root / place).parent.mkdir(parents=True)
    (root / place).write_bytes(authority.read_bytes())
    job = f"trusts-{place.split('/')[-1].partition('.')[0]}"
    out = inside(root, agent, "run", "--server", service.url, "--job", job, "--", agent, "--version")
    assert out.returncode == 0 and "not trusted" not in out.stdout, out.stdout
    wait_for(lambda: service.get(f"/api/v1/jobs/{job}")[1].get("status") == "Completed", "the job has ended")

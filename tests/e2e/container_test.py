"""The agent in a bare container: process 1 of a PID namespace, and a control group with limits of its own. No engine is needed, but root."""

import os
import signal
import stat
import subprocess
import sys
import textwrap
import uuid
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.run_test import described
from tests.support.service import program, wait_for

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces and control groups")

GROUPS = Path("/sys/fs/cgroup")
AS_PROCESS_1 = ["unshare", "--pid", "--fork", "--mount-proc"]

ORPHANS = """
    import os, time
    for _ in range(20):
        if os.fork() == 0:            # a child
            if os.fork() == 0:        # its child, which is an orphan soon
                time.sleep(0.1)
                os._exit(0)
            os._exit(0)
        os.wait()
    time.sleep(1)
    states = [open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] for pid in os.listdir("/proc") if pid.isdigit()]
    print("process 1:", open("/proc/1/comm").read().strip(), "zombies:", states.count("Z"))
"""


def agent(service, job, *command, flags=(), within=(), **options):
    words = [*within, program("stepscope-agent"), "run", "--server", service.url, "--job", job, "--push", "1s", *flags, "--", *map(str, command)]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def python(script):
    return sys.executable, "-c", textwrap.dedent(script)


def facts_of(job):
    return job["nodes"][0]["facts"]


@contextmanager
def group(version, limits):
    """A control group below a group, both with limits; its files by name and text. Skips where the machine has no such version."""
    controllers = {"cpu", "memory"} | ({"cpuacct"} if version == 1 else set())
    name = f"stepscope-{uuid.uuid4().hex[:8]}"
    top = {2: [GROUPS], 1: sorted({(GROUPS / each).resolve() for each in controllers})}[version]  # one folder may be of two controllers
    for folder in top:
        usable = controllers <= set((folder / "cgroup.subtree_control").read_text().split()) if (folder / "cgroup.subtree_control").exists() else version == 1 and (folder / "tasks").exists()
        if not usable:
            pytest.skip(f"no control groups of version {version} with {' and '.join(sorted(controllers))}")
    made = []
    try:
        for folder in top:
            outer = folder / name
            outer.mkdir()
            made.append(outer)
            if version == 2:
                (outer / "cgroup.subtree_control").write_text("+cpu +memory")
            inner = outer / "inner"
            inner.mkdir()
            made.append(inner)
            for place, file, text in limits:
                path = (outer if place == "outer" else inner) / file
                if path.exists():
                    path.write_text(text)
        yield [each for each in made if each.name == "inner"]
    finally:
        for each in reversed(made):
            wait_for(lambda: not (each / "cgroup.procs").read_text(), "the group is empty", 20)
            each.rmdir()


def joins(folders):
    """What a process does to get into the groups before it becomes the agent."""
    def join():
        for folder in folders:
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    return join


def test_process_1_takes_orphans_away(service):
    process = agent(service, "first", *python(ORPHANS), within=AS_PROCESS_1)
    out, errors = process.communicate(timeout=60)
    assert "process 1: stepscope-agent zombies: 0" in out, errors
    assert process.returncode == 0
    described(service, "first", "Completed")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGRTMIN + 3])
def test_process_1_passes_signals_on(service, number):
    # Waits for the signal: a handler may be called just before a sleep begins, which would then last.
    wait = f"signal.pthread_sigmask(signal.SIG_BLOCK, [{int(number)}]); print('ready', flush=True); sys.exit(33 if signal.sigtimedwait([{int(number)}], 60) else 1)"
    script = f"import signal, sys; {wait}"
    process = agent(service, f"signals-{int(number)}", sys.executable, "-c", script, within=[*AS_PROCESS_1, "--kill-child"])
    assert process.stdout.readline() == "ready\n"
    first = wait_for(lambda: Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split(), "unshare has its child")[0]
    os.kill(int(first), number)
    process.communicate(timeout=60)
    assert process.returncode == 33


def test_process_1_ends_with_128_and_the_signal_of_the_command(service):
    process = agent(service, "killed", "sh", "-c", "kill -KILL $$", within=AS_PROCESS_1)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGKILL
    assert described(service, "killed", "Failed")["failure"]["signal"] == signal.SIGKILL


def test_a_wrapper_ends_by_the_signal_of_the_command(service):
    process = agent(service, "wrapped", "sh", "-c", "kill -KILL $$")
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


def test_process_1_keeps_the_order_of_output_and_errors(service):
    script = "import os\nfor number in range(3000): os.write(1 + number % 2, b'%d\\n' % number)"
    words = [*AS_PROCESS_1, program("stepscope-agent"), "run", "--server", service.url, "--job", "order", "--log-level", "error", "--", sys.executable, "-c", script]
    both = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=True).stdout
    assert both.split() == [str(number) for number in range(3000)]


LIMITS = {
    2: [("inner", "cpu.max", "max 100000"), ("outer", "cpu.max", "50000 100000"), ("inner", "memory.max", str(512 << 20)), ("outer", "memory.max", str(400 << 20))],
    1: [("outer", "cpu.cfs_quota_us", "50000"), ("inner", "memory.limit_in_bytes", str(512 << 20)), ("outer", "memory.limit_in_bytes", str(400 << 20))],
}


@pytest.mark.parametrize("version", [1, 2])
def test_a_job_has_the_cores_and_the_memory_of_its_groups(service, version):
    """The limits are those of the group around the job's own, which bound it more."""
    with group(version, LIMITS[version]) as folders:
        process = agent(service, f"group-{version}", *python("import time; time.sleep(6)"), preexec_fn=joins(folders))
        process.communicate(timeout=60)
    job = described(service, f"group-{version}", "Completed")
    facts = facts_of(job)
    assert facts["cpu_quota"] == 0.5 and facts["cores_allowed"] == 1, facts
    assert facts["memory_allowed_bytes"] == 400 << 20, facts
    assert job["nodes"][0]["cores"] == os.cpu_count()


@pytest.mark.parametrize("version", [1, 2])
def test_throttling_and_memory_of_a_group_are_samples(service, version):
    spin = "import time\nheld = bytearray(64 << 20)\nend = time.time() + 12\nwhile time.time() < end: pass"
    with group(version, LIMITS[version]) as folders:
        process = agent(service, f"throttled-{version}", *python(spin), preexec_fn=joins(folders))
        process.communicate(timeout=60)
    described(service, f"throttled-{version}", "Completed")
    series = {each["metric"]: each for each in service.get(f"/api/v1/jobs/throttled-{version}/metrics?points=10")[1]["series"]}
    for metric in ("cgroup_cpu_percent", "cgroup_throttled_percent", "cgroup_memory_bytes", "cgroup_memory_anon_bytes", "cgroup_memory_limit_bytes"):
        assert metric in series, sorted(series)
    # What the quota lets the process use, though other cores are busy.
    used = [value for value in series["cgroup_cpu_percent"]["mean"] if value is not None]
    assert used and 0 < max(used) < 65, used


def test_a_job_bound_to_one_core_has_one(service):
    one = sorted(os.sched_getaffinity(0))[:1]
    process = agent(service, "bound", *python("import time; time.sleep(3)"), preexec_fn=lambda: os.sched_setaffinity(0, one))
    process.communicate(timeout=60)
    assert facts_of(described(service, "bound", "Completed"))["cores_allowed"] == 1


def test_secrets_of_the_command_line_stay_on_the_node(service):
    process = agent(service, "secrets", "true", "--hf_token", "hf_abcdefghijklmnopqrstuvwxyz012345", "--db-password=correct horse", within=AS_PROCESS_1)
    process.communicate(timeout=60)
    words = facts_of(described(service, "secrets", "Completed"))["command"]
    assert words == ["true", "--hf_token", "***", "--db-password=***"]


def test_a_job_has_the_gpus_that_its_container_was_given(service):
    fake = Path(program("stepscope-agent")).parent / "tests/fake_nvml"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(fake), "FAKE_NVML_GPUS": "8", "NVIDIA_VISIBLE_DEVICES": "2,5", "CUDA_VISIBLE_DEVICES": "1"}
    process = agent(service, "two-of-eight", *python("import time; time.sleep(3)"), within=AS_PROCESS_1, env=environment)
    process.communicate(timeout=60)
    gpus = described(service, "two-of-eight", "Completed")["nodes"][0]["gpus"]
    assert [each["device"] for each in gpus] == ["gpu5"]


def test_a_gpu_that_the_group_of_devices_refuses_is_not_the_jobs(service, folder):
    """Of two GPUs, as the driver shows them, the group may open the first one's file."""
    devices = GROUPS / "devices"
    if not (devices / "devices.deny").exists():
        pytest.skip("no control groups of devices of version 1")
    (folder / "dev").mkdir()
    for number, minor in enumerate((3, 5)):  # /dev/null and /dev/zero stand for GPUs
        about = folder / f"proc/driver/nvidia/gpus/0000:1{number}:00.0/information"
        about.parent.mkdir(parents=True)
        about.write_text(f"Model: \t\t NVIDIA H100\nDevice Minor: \t {number}\n")
        os.mknod(folder / f"dev/nvidia{number}", 0o666 | stat.S_IFCHR, os.makedev(1, minor))
    fake = Path(program("stepscope-agent")).parent / "tests/fake_nvml"
    environment = {name: value for name, value in os.environ.items() if not name.endswith("VISIBLE_DEVICES")}
    environment |= {"LD_LIBRARY_PATH": str(fake), "FAKE_NVML_GPUS": "2"}
    inner = devices / f"stepscope-{uuid.uuid4().hex[:8]}"
    inner.mkdir()
    try:
        (inner / "devices.deny").write_text("c 1:5 rwm")
        process = agent(service, "refused", *python("import time; time.sleep(3)"), flags=["--root", folder], env=environment, preexec_fn=joins([inner]))
        _, errors = process.communicate(timeout=60)
    finally:
        wait_for(lambda: not (inner / "cgroup.procs").read_text(), "the group is empty", 20)
        inner.rmdir()
    gpus = described(service, "refused", "Completed")["nodes"][0]["gpus"]
    assert [each["device"] for each in gpus] == ["gpu0"], errors


def test_a_job_on_the_cpu_has_no_gpu(service):
    fake = Path(program("stepscope-agent")).parent / "tests/fake_nvml"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(fake), "FAKE_NVML_GPUS": "4", "CUDA_VISIBLE_DEVICES": ""}
    process = agent(service, "on-cpu", *python("import time; time.sleep(3)"), env=environment)
    process.communicate(timeout=60)
    assert described(service, "on-cpu", "Completed")["nodes"][0]["gpus"] == []

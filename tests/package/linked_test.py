"""The libraries and versions that the programs need of the system that they are put on."""

import os
import re
import subprocess

import pytest

LIBC = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
OLDEST_LIBC = (2, 35)


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def libraries(program):
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", program)))


def newest_libc(program):
    """The newest version of libc that has all that the program uses."""
    versions = re.findall(r"\(GLIBC_(\d+)\.(\d+)", output("objdump", "-T", program))
    return max((int(major), int(minor)) for major, minor in versions)


def test_the_agent_needs_libc_and_openssl_alone(build):
    assert libraries(build / "stepscope-agent") - LIBC == {"libssl.so.3", "libcrypto.so.3"}


def test_the_portable_agent_needs_libc_alone(build):
    assert libraries(build / "stepscope-agent-portable") <= LIBC


def system_libc():
    return tuple(map(int, os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")))


@pytest.mark.skipif(system_libc() > (2, 36), reason="what is built with a newer libc than Debian 12's needs it")
@pytest.mark.parametrize("name", ["stepscope-agent", "stepscope-agent-portable"])
def test_the_agent_runs_with_the_oldest_libc(build, name):
    assert newest_libc(build / name) <= OLDEST_LIBC

"""The other commands of the agent, with the real service."""

import json
import subprocess

from tests.support.service import program


def agent(*words, **options):
    return subprocess.run([program("stepscope-agent"), *map(str, words)], capture_output=True, text=True, timeout=120, **options)


def test_check_finds_a_service_that_is_well(service):
    done = agent("check", "--server", service.url, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = {line["name"]: line for line in json.loads(done.stdout)["checks"] if line["area"] == "service"}
    assert lines["reachable"]["finding"] == lines["clock"]["finding"] == "ok"
    assert "none is needed" in lines["token"]["detail"]

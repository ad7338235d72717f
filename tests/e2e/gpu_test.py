"""A node whose driver is the fake of the C++ tests: its GPUs in describe-job and in the metrics."""

import os
from pathlib import Path

import pytest

from tests.e2e.run_test import described, running
from tests.support.service import program, wait_for

FAKE = Path(program("stepscope-agent")).parent / "tests/fake_nvml"


@pytest.mark.skipif(not FAKE.is_dir(), reason="the tests in C++ are not built")
def test_gpus_of_the_node_are_described_and_sampled(service):
    found = {**os.environ, "LD_LIBRARY_PATH": str(FAKE), "FAKE_NVML_GPUS": "2"}
    with running(service, "gpus", "sleep", "300", env=found):
        job = described(service, "gpus", "InProgress")
        [node] = job["nodes"]
        assert [gpu["device"] for gpu in node["gpus"]] == ["gpu0", "gpu1"]
        assert node["gpus"][0]["name"] == "NVIDIA H100 80GB HBM3"
        assert not [absent for absent in node["absent"] if absent["source"] == "gpu"]

        def series():
            code, answer = service.get("/api/v1/jobs/gpus/metrics?metric=gpu_util_percent,gpu_temperature_celsius&points=100")
            enough = code == 200 and len(answer["series"]) == 4 and all(len(each["times_us"]) > 4 for each in answer["series"])
            return answer["series"] if enough else None

        means = {(each["metric"], each["device"], each["unit"]): set(each["mean"]) - {None} for each in wait_for(series, "four series with samples")}  # a busy machine leaves gaps
        assert means[("gpu_util_percent", "gpu1", "%")] == {97}
        assert means[("gpu_temperature_celsius", "gpu0", "°C")] == {66}

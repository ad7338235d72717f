"""The fleet, with the real service and jobs that its rules judge: the row of each job comes and goes by itself."""

import csv
import io
import subprocess

from tests.support.service import program, wait_for

SINCE = "from=2020-01-01T00:00:00Z"


def fleet(service, query):
    status, answer = service.get(f"/api/v1/fleet?{SINCE}&{query}")
    assert status == 200, answer
    return answer


def row_of(service, job):
    return next((row["sums"] for row in fleet(service, "by=job")["rows"] if row["key"] == job), None)


def test_the_hours_of_a_judged_job_are_added_up_and_go_with_it(service):
    send = [program("stepscope-scenario"), "slow-input", "--server", service.url, "--speed", "0", "--job", "slow-input"]
    subprocess.run(send, check=True, capture_output=True, timeout=120)
    sums = wait_for(lambda: (found := row_of(service, "slow-input")) and found["judged_gpu_hours"] > 0 and found["running_jobs"] == 0 and found, "it is added up", 60)
    assert sums["first_cause"]["cause"] == "raw_data_input" and sums["jobs_with_issues"] == 1
    assert abs(sums["gpu_hours"] - sums["busy_gpu_hours"] - sums["lost_gpu_hours"] - sums["not_judged_gpu_hours"]) < 0.001
    job = service.get("/api/v1/jobs/slow-input")[1]
    held = (job["ended_us"] - job["started_us"]) / 3.6e9 * len(job["nodes"][0]["gpus"])
    assert abs(sums["gpu_hours"] - held) < 0.01 * held
    table = list(csv.DictReader(io.StringIO(service.get(f"/api/v1/fleet?{SINCE}&by=job&format=csv")[1])))
    assert [row["first_cause"] for row in table if row["job"] == "slow-input"] == ["raw_data_input"]
    assert service.request("DELETE", "/api/v1/jobs/slow-input")[0] == 204
    wait_for(lambda: row_of(service, "slow-input") is None, "it goes with its job", 60)

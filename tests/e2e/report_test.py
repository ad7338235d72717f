"""`stepscope-server report JOB`: the same report as the API's, beside a service that runs and after it was stopped."""

import json
import subprocess
import xml.etree.ElementTree

import pytest

from tests.support.service import program


def report(service, *words):
    command = [program("stepscope-server"), "report", *words, *service.at]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def make_job(service):
    assert service.request("POST", "/api/v1/jobs", {"name": "told"})[0] == 201
    times = [1_795_205_614_000_000 + 500_000 * at for at in range(50)]
    series = [{"metric": "gpu_util_percent", "device": "0", "values": [at % 90 for at in range(50)]}]
    assert service.request("POST", "/api/v1/jobs/told/samples", {"node": "host-1", "times_us": times, "series": series})[0] == 200


def test_a_job_is_told_as_json_and_as_a_page_that_is_well_formed(service):
    make_job(service)
    told = json.loads(report(service, "told", "--json", "--public-url", service.url).stdout)
    _, answered = service.get("/api/v1/jobs/told/report")
    assert told["usage"] == answered["usage"] and told["job"] == answered["job"]
    assert told["usage"]["devices"][0]["count"] == 50
    page = report(service, "told").stdout
    doctype, _, html = page.partition("\n")
    assert doctype == "<!DOCTYPE html>"
    root = xml.etree.ElementTree.fromstring(html)
    assert root.find(".//h1").text == "told" and root.find(".//svg") is not None and root.find(".//script") is None
    service.stop()
    assert report(service, "told").returncode == 0


def test_what_cannot_be_told_is_said_with_the_way_out(service, tmp_path):
    unknown = report(service, "nope")
    assert unknown.returncode == 1 and unknown.stdout == ""
    assert "nope not found" in unknown.stderr and "--data-dir" in unknown.stderr
    assert report(service).returncode == 2
    nowhere = subprocess.run([program("stepscope-server"), "report", "told", "--data-dir", str(tmp_path / "none")], capture_output=True, text=True, timeout=60)
    assert nowhere.returncode == 1 and "holds no database" in nowhere.stderr


@pytest.mark.parametrize("words", [("create", "--role", "reader", "--name", "me"), ("list",), ("revoke", "abcdefgh")], ids=lambda words: words[0])
def test_tokens_make_no_database_in_a_mistyped_folder(words, tmp_path):
    command = [program("stepscope-server"), "token", *words, "--data-dir", str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and f"{tmp_path / 'none'} holds no database" in done.stderr and "--data-dir" in done.stderr
    assert not (tmp_path / "none").exists()

"""Thousands of malformed requests: each is answered or closed in time, each refusal says why in the published words."""

import json
import os
import random
import re
from collections import Counter
from datetime import date

import pytest

from tests.fault.law import under_law
from tests.fault.malformed_requests import mutants
from tests.fault.openapi_cases import ROOT, cases
from tests.support.raw_http import throw_all
from tests.support.service import Service

COUNT = int(os.environ.get("STEPSCOPE_MALFORMED", "10000"))
SEEDS = {"fixed": "2026", "of the day": date.today().isoformat()}
MEMBERS = {"type", "title", "status", "code", "detail", "request_id"}
# Statuses with which any call may be refused before it is looked at.
BEFORE_ROUTING = {400, 403, 404, 405, 408, 411, 413, 414, 415, 417, 421, 429, 431, 501, 503, 505}


@pytest.fixture
def service(folder):
    with under_law(Service(folder), repeats=True) as started:
        yield started


def published_codes():
    """{code: status}, from the one table of the service."""
    table = next((ROOT / "server").glob("*/problem.cpp")).read_text()
    return {code: int(status) for code, status in re.findall(r'\{"([a-z-]+)", (\d{3}), "', table)}


CODES = published_codes()


def faults_of_problem(answer):
    """The faults of a refusal; none when it is as it should be."""
    if answer.type != "application/problem+json":
        return [f"{answer.status} has the type {answer.type or 'of nothing'}: {answer.body[:80]}"]
    problem = json.loads(answer.body)
    if missing := MEMBERS - problem.keys():
        return [f"{answer.status} lacks {missing}"]
    faults = []
    if CODES.get(problem["code"]) != answer.status or problem["status"] != answer.status:
        faults.append(f"{answer.status} with the code {problem['code']}")
    if problem["request_id"] != answer.headers.get("x-request-id"):
        faults.append(f"{answer.status} {problem['code']}: request_id is not X-Request-Id")
    if answer.status == 500:
        faults.append(f"500: {problem['detail']}")
    return faults


def faults_of(thrown):
    kept = not thrown.half_closes and thrown.answers  # it may well ask more, and was told so
    if thrown.ended.startswith("refused") or (thrown.ended == "late" and not kept):
        return [f"{thrown.ended} after {thrown.seconds:.1f} s"]
    refusals = [answer for answer in thrown.answers if answer.status >= 400]
    without_body = thrown.data[:5] == b"HEAD "
    ready = [answer for answer in refusals if answer.status == 503 and b'"checks"' in answer.body]
    return [fault for answer in refusals if answer not in ready and not without_body for fault in faults_of_problem(answer)]


def said(found):
    """The first of the faults, with the bytes that brought them out."""
    return "\n".join(f"{thrown.note}: {fault}\n    {thrown.data[:300]!r}" for thrown, fault in found[:10])


def report(capsys, name, throws):
    statuses = Counter(answer.status for thrown in throws for answer in thrown.answers)
    silent = sum(not thrown.answers for thrown in throws)
    slowest = max(thrown.seconds for thrown in throws)
    with capsys.disabled():
        print(f"\n{name}: {len(throws)} requests, {silent} closed without an answer, slowest {slowest:.1f} s, {dict(sorted(statuses.items()))}")


def check_alive(service):
    assert service.process.poll() is None, "the service is gone"
    assert service.get("/readyz")[0] == 200
    log = service.log.read_bytes()
    assert b"Sanitizer" not in log
    odd = [line for line in log.split(b"\n") if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", line)]
    assert odd == [], "bytes of a request stand in the log as they came"


@pytest.mark.parametrize("seed", SEEDS.values(), ids=SEEDS)
def test_mutants_of_requests_are_answered_or_closed(service, capsys, seed):
    throws = mutants(COUNT // 2, seed)
    throw_all(service.port, throws)
    report(capsys, f"mutants, seed {seed}", throws)
    found = [(thrown, fault) for thrown in throws for fault in faults_of(thrown)]
    assert not found, f"seed {seed}, {len(found)} faults:\n{said(found)}"
    check_alive(service)


@pytest.mark.parametrize("seed", SEEDS.values(), ids=SEEDS)
def test_requests_beside_the_contract_are_refused_as_it_says(service, capsys, seed):
    made = cases(COUNT // 2, seed)
    throws = [thrown for thrown, _ in made]
    random.Random(seed).shuffle(throws)
    throw_all(service.port, throws, parallel=200)
    report(capsys, f"from openapi.yaml, seed {seed}", throws)
    found = [(thrown, fault) for thrown in throws for fault in faults_of(thrown)]
    for thrown, documented in made:
        if not thrown.answers:
            found.append((thrown, "no answer"))
        for answer in thrown.answers:
            if answer.status not in documented | BEFORE_ROUTING:
                found.append((thrown, f"{answer.status} is not documented there: {answer.body[:200]}"))
    assert not found, f"seed {seed}, {len(found)} faults:\n{said(found)}"
    check_alive(service)

"""A person with a browser, while others do harm: each answer is timed, each must come.

    python -m tests.fault.abuse_person PORT JOB LARGE-PATH SECONDS [TOKEN-FILE]

Prints {"answered", "faults", "busy", "milliseconds", "chart_milliseconds"} (the chart over all nodes apart) as one line of JSON at the end.
"""

import http.client
import json
import sys
import time

PAUSE = 0.02
TRIES = 5  # so many for one page, while the answer is to come back later


def pages(job, large):
    return [
        "/", large, "/api/v1/jobs?limit=50", f"/api/v1/jobs/{job}", f"/api/v1/jobs/{job}/metrics?metric=node_cpu_percent&points=300",
        f"/api/v1/jobs/{job}/rules", f"/api/v1/jobs/{job}/steps", "/readyz",
    ]


def fetch(port, path, kept):
    """(connection, status, "" or what went wrong). A new connection when there is none."""
    connection = kept or http.client.HTTPConnection("127.0.0.1", port, timeout=30, source_address=("127.7.0.1", 0))
    try:
        connection.request("GET", path, headers={"Sec-Fetch-Site": "same-origin"})
        answer = connection.getresponse()
        answer.read()
        return connection, answer.status, "" if answer.status == 200 else f"{path}: {answer.status}"
    except (OSError, http.client.HTTPException) as fault:
        connection.close()
        return None, 0, f"{path}: {fault!r}"


def main():
    port, job, large, seconds = int(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4])
    end, milliseconds, charts, faults, busy, kept, number = time.monotonic() + seconds, [], [], [], 0, None, 0
    while time.monotonic() < end:
        for path in pages(job, large):
            began = time.monotonic()
            for _ in range(TRIES):
                kept, status, fault = fetch(port, path, kept)
                if status != 503:
                    break
                busy += 1
                time.sleep(1)  # Retry-After says so
            (charts if "/metrics?" in path else milliseconds).append((time.monotonic() - began) * 1000)
            faults += [fault] if fault else []
            time.sleep(PAUSE)
        number += 1
        if kept and number % 2:  # a browser opens new connections now and then
            kept.close()
            kept = None
    print(json.dumps({"answered": len(milliseconds) + len(charts) - len(faults), "faults": faults, "busy": busy, "milliseconds": milliseconds, "chart_milliseconds": charts}))


if __name__ == "__main__":
    main()

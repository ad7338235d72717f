"""Whatever is thrown at it, the service goes on for those who mean well. How fast is printed here, and judged by bench/edge/abuse.py."""

import json
import os

from tests.fault.abuse import AGENTS, run
from tests.support.service import SANITIZED

SECONDS = int(os.environ.get("STEPSCOPE_ABUSE_SECONDS", "30"))
MOST_MEMORY = 512 << 20


def test_people_and_agents_are_served_while_others_do_harm(service, folder, capsys):
    seen = run(service, folder, SECONDS)
    with capsys.disabled():
        print("\nabuse: " + json.dumps({name: value for name, value in seen.items() if name != "person_faults"}))
    assert service.process.poll() is None, "the service is gone"
    assert seen["person_faults"] == []
    assert seen["person_answered"] > 20
    pushes = seen["pushes"]
    assert (pushes["starved_agents"], pushes["other"]) == (0, {})
    # sent = stored + lost + rejected; each agent's first push holds two frames.
    assert (seen["stored"], seen["lost"], seen["rejected"]) == (pushes["due"] + AGENTS, 0, 0)
    assert pushes["acknowledged_frames"] == seen["stored"]
    assert seen["descriptors_after"] <= seen["descriptors_before"]
    assert SANITIZED or seen["peak_memory_bytes"] <= MOST_MEMORY
    assert sum(each["most_open"] for each in seen["connections"]) > 4_000, "the harm was not done"
    assert all(sum(statuses.values()) > 0 for statuses in seen["bombs"].values()), "a bomb was not thrown"

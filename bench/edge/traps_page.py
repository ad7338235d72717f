"""docs/traps.md: the table of what was measured, and where the tests stand. Made by bench/edge/traps.py."""

from harness import ROOT

from bench.edge import traps_of_users
from bench.edge.figures_page import figures

PAGE = ROOT / "docs" / "traps.md"

HEAD = """# Traps

What a plain cpp-httplib 0.11.4 server (Debian 12, as in any tutorial, its body limit set to 8 MB) does when these are thrown at it, and what `stepscope-server` does.
Each trap meets a server that was just started, and that may use 3 GiB of addresses. It meets both one after the other, on {machine}; this page is made of
`bench/results/traps.json` by the program that measures:

```
bench/edge/traps.py
```

**Bold** is a trap that caught the server: others were not served, memory grew by more than 64 MB, the server died, or it believed what it should not.

| Trap | Thrown | Stock cpp-httplib | Stepscope | Test |
|---|---|---|---|---|
"""

# The test of the suite that holds each trap fast: file::name.
HERE = "tests/fault/traps_test.py"
TESTS = {
    "T1": f"{HERE}::test_t1_idle_connections_keep_nobody_out",
    "T2": f"{HERE}::test_t2_honest_agents_are_all_served",
    "T3": f"{HERE}::test_t3_who_drips_is_ended_and_holds_nobody_up",
    "T4": f"{HERE}::test_t4_who_does_not_read_holds_nobody_up",
    "T5": f"{HERE}::test_t5_a_body_of_a_gigabyte_is_refused_as_it_comes",
    "T6": f"{HERE}::test_t6_a_bomb_is_unpacked_no_further_than_allowed",
    "T7": f"{HERE}::test_t7_an_endless_head_is_refused_as_it_comes",
    "T8": f"{HERE}::test_t8_ranges_cost_nothing",
    "T9": f"{HERE}::test_t9_a_long_path_needs_no_stack",
    "T10": f"{HERE}::test_t10_deep_json_is_refused",
    "T11": f"{HERE}::test_t11_odd_json_is_refused_and_not_said_back",
    "T12": f"{HERE}::test_t12_json_that_costs_much_memory_is_refused",
    "T13": "tests/server/edge/workers_test.cpp::AnExceptionBecomesA500AndTheWorkerGoesOn",
    "T14": f"{HERE}::test_t14_no_error_of_accept_ends_the_service",
    "T15": f"{HERE}::test_t15_a_body_is_never_read_as_a_request",
    "T16": f"{HERE}::test_t16_a_length_that_can_be_read_in_two_ways_is_refused",
    "T17": f"{HERE}::test_t17_headers_arrive_as_they_were_sent",
    "T18": f"{HERE}::test_t18_a_post_without_a_body_is_answered",
    "T19": f"{HERE}::test_t19_who_has_ended_its_sending_side_is_answered",
    "T20": f"{HERE}::test_t20_a_kept_connection_sends_each_answer_at_once",
    "T21": f"{HERE}::test_t21_a_second_service_on_the_port_is_refused",
    "T22": "tests/traps_page_test.py::test_t22_no_limit_is_given_by_a_define",
    "T23": f"{HERE}::test_t23_slow_and_idle_connections_do_not_hold_up_the_end",
    "T24": f"{HERE}::test_t24_paths_lead_nowhere",
    "T25": "tests/fault/malformed_test.py::test_mutants_of_requests_are_answered_or_closed",
    "T26": "tests/core/http/hostile_test.cpp::EndsAtTheDeadlineHoweverItDrips",
    "T28": "tests/server/postgres/embedded_postgres_test.cpp::KilledServerIsStartedAgain",
    "T29": "tests/server/postgres/embedded_postgres_test.cpp::KilledBackendOnlyEndsSessions",
    "T31": "tests/server/alert/secrets_test.cpp::RefusesAFileWithoutAKey",
    "T30": "tests/fault/full_disk_test.py::test_the_ballast_brings_postgresql_back_when_the_disk_is_full",
    "T32": "tests/fault/kill_test.py::test_killed_at_random_nothing_is_lost_or_doubled",
}

# The traps of the same list that are not thrown at a server's socket: (what it is, how it stands here).
OTHERS = {
    "T22": ("limits given as `-DCPPHTTPLIB_...` do nothing with Debian's library", "no such define is used; the limits are our own (`server/edge/options.h`)"),
    "T26": ("a client of the library hangs on slow, endless or packed answers", "agent and webhooks use `core/http`: a deadline for the whole, a bound on the answer"),
    "T27": ("libfaketime with a faked monotonic clock", "no test fakes that clock; time comes in as an argument"),
    "T28": ("PostgreSQL killed and started again at once", "the private PostgreSQL is looked after"),
    "T29": ("one backend of PostgreSQL killed", "its sessions end, and are opened again"),
    "T30": ("the disk of PostgreSQL is full", "pushes are refused before that (`storage-low`); when it is full all the same, a ballast brings PostgreSQL back"),
    "T31": ("a file of our own with random bytes in it", "what is read back is checked first"),
    "T32": ("at least once without a cursor doubles rows", "a cursor for each stream in the transaction"),
    "T33": ("the disk of a test machine caches", "the figures of this machine say nothing about other disks, and none about durability is claimed"),
}
OTHERS_HEAD = """
The list goes on with traps that are not thrown at a server's socket:

| Trap | What it is | How it stands here | Test |
|---|---|---|---|
"""


def cell(row):
    if not row:
        return "not measured"
    text = row["happened"].replace("|", "\\|")
    return f"**{text}**" if row["held"] is False else text


def test(name):
    return f"`{TESTS[name]}`" if name in TESTS else ""


def page(rows):
    """The whole page, of the rows of the results."""
    found = {(row["trap"], row["side"]): row for row in rows}
    names = sorted({trap for trap, _ in found}, key=lambda name: int(name[1:]))
    lines = [
        f"| {name} | {found.get((name, 'ours'), found.get((name, 'stock')))['thrown']} | {cell(found.get((name, 'stock')))} | {cell(found.get((name, 'ours')))} | {test(name)} |"
        for name in names
    ]
    caught = {side: sum(row["held"] is False for row in rows if row["side"] == side) for side in ("stock", "ours")}
    total = f"\n{len(names)} traps: {caught['stock']} catch the stock server, {caught['ours']} catch Stepscope.\n"
    others = OTHERS_HEAD + "".join(f"| {name} | {what} | {how} | {test(name)} |\n" for name, (what, how) in OTHERS.items())
    return HEAD.format(machine=rows[0]["machine"]) + "\n".join(lines) + "\n" + total + others + traps_of_users.table() + figures()


def write(rows):
    PAGE.write_text(page(rows))
    print(f"written to {PAGE.relative_to(ROOT)}")

"""docs/traps.md: the table of what was measured, and where the tests stand. Made by bench/edge/traps.py."""

from harness import ROOT

PAGE = ROOT / "docs" / "traps.md"

HEAD = """# Traps

What a plain cpp-httplib 0.11.4 server (Debian 12, as in any tutorial, its body limit set to 8 MB) does when these are thrown at it, and what `stepscope-server` does.
Each trap meets a server that was just started, and that may use 3 GiB of addresses. Both columns were measured in one run on {machine}; this page is made of
`bench/results/traps.json` by the program that measures:

```
bench/edge/traps.py
```

**Bold** is a trap that caught the server: others were not served, memory grew by more than 64 MB, the server died, or it believed what it should not.

| Trap | Thrown | Stock cpp-httplib | Stepscope | Test |
|---|---|---|---|---|
"""

# Where the suite holds each of them fast.
TESTS = {
    "T1": "tests/fault/abuse_test.py", "T2": "tests/fault/abuse_test.py", "T3": "tests/fault/abuse_test.py", "T4": "tests/fault/abuse_test.py",
    "T5": "tests/fault/abuse_test.py", "T6": "tests/fault/abuse_test.py", "T7": "tests/fault/abuse_test.py", "T8": "tests/fault/abuse_test.py",
    "T9": "tests/fault/abuse_test.py", "T10": "tests/fault/abuse_test.py", "T11": "tests/fault/malformed_test.py", "T12": "tests/fault/abuse_test.py",
    "T13": "tests/server/edge", "T14": "tests/server/edge", "T15": "tests/server/edge", "T16": "tests/server/edge", "T17": "tests/server/edge", "T18": "tests/server/edge",
    "T19": "tests/fault/malformed_test.py", "T20": "bench/edge/requests.py", "T21": "tests/server/edge", "T23": "tests/fault/shutdown_test.py", "T24": "tests/server/api",
    "T25": "tests/fault/malformed_test.py",
}

# The traps of the same list that are not thrown at a server, in words.
OTHERS = """
The list goes on with traps that are not for a server's socket, or not for this change:

| Trap | What it is | How it stands here |
|---|---|---|
| T22 | limits given as `-DCPPHTTPLIB_...` do nothing with Debian's library | no such define is used; the limits are our own (`server/edge/options.h`) |
| T26 | a client of the library hangs on slow, endless or packed answers | the agent and webhooks use `core/http` with a deadline for the whole and a bound on the answer: `tests/core/http` |
| T27 | libfaketime with a faked monotonic clock | no test fakes the monotonic clock; time comes in as an argument |
| T28, T29 | PostgreSQL killed, at once started again; one backend killed | the private PostgreSQL is looked after: `tests/server/store`, `tests/fault/kill_test.py` |
| T30 | the disk of PostgreSQL is full | pushes are refused before (`storage-low`); a full disk under PostgreSQL itself is not tested yet |
| T31 | a file of our own with random bytes in it | what is read back is checked: `tests/agent` |
| T32 | at least once without a cursor doubles rows | a cursor for each stream in the transaction: `tests/fault/kill_test.py` |
| T33 | the disk of a test machine caches | the figures of this machine say nothing about durability of other disks, and none is claimed |
"""


def cell(row):
    if not row:
        return "not measured"
    text = row["happened"].replace("|", "\\|")
    return f"**{text}**" if row["held"] is False else text


def page(rows):
    """The whole page, of the rows of the results."""
    found = {(row["trap"], row["side"]): row for row in rows}
    names = sorted({trap for trap, _ in found}, key=lambda name: int(name[1:]))
    lines = [
        f"| {name} | {found.get((name, 'ours'), found.get((name, 'stock')))['thrown']} | {cell(found.get((name, 'stock')))} | {cell(found.get((name, 'ours')))} | `{TESTS[name]}` |"
        for name in names
    ]
    caught = {side: sum(row["held"] is False for row in rows if row["side"] == side) for side in ("stock", "ours")}
    total = f"\n{len(names)} traps: {caught['stock']} catch the stock server, {caught['ours']} catch Stepscope.\n"
    return HEAD.format(machine=rows[0]["machine"]) + "\n".join(lines) + "\n" + total + OTHERS


def write(rows):
    PAGE.write_text(page(rows))
    print(f"written to {PAGE.relative_to(ROOT)}")

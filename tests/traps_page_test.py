"""docs/traps.md says what bench/results/traps.json says, and the tests that it names are there."""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]
from bench.edge import traps_of_users, traps_page  # noqa: E402

RESULTS = json.loads((ROOT / "bench/results/traps.json").read_text())
NOT_OURS_TO_TEST = {"T27", "T33"}  # the page says why


def test_the_page_is_made_of_the_results():
    assert traps_page.PAGE.read_text() == traps_page.page(RESULTS), "run bench/edge/traps.py --page"


def test_every_trap_was_thrown_at_both_or_stands_in_words():
    thrown = {(row["trap"], row["side"]) for row in RESULTS}
    known = {f"T{number}" for number in range(1, 34)}
    assert {name for name in known if not {(name, "stock"), (name, "ours")} <= thrown} == set(traps_page.OTHERS)


def test_no_trap_catches_the_service():
    assert [row["trap"] for row in RESULTS if row["side"] == "ours" and row["held"] is False] == []


def test_every_trap_has_a_test_that_is_there():
    assert {f"T{number}" for number in range(1, 34)} - traps_page.TESTS.keys() == NOT_OURS_TO_TEST
    missing = []
    for place in [*traps_page.TESTS.values(), *(test for *_, test in traps_of_users.TRAPS.values())]:
        path, _, name = place.partition("::")
        if not re.search(rf"\b{name}\b", (ROOT / path).read_text()):
            missing.append(place)
    assert missing == []


def test_t22_no_limit_is_given_by_a_define():
    """Debian's library is compiled already: such a define would do nothing, and say nothing."""
    places = [ROOT / "CMakeLists.txt", ROOT / "CMakePresets.json", *(ROOT / "server").rglob("*.[ch]*"), *(ROOT / "core").rglob("*.[ch]*")]
    defines = [str(path) for path in places if re.search(r"CPPHTTPLIB_\w+(_MAX|_TIMEOUT|_LIMIT|_LENGTH)", path.read_text())]
    assert defines == []

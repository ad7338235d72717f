"""The rows that are printed, and the share that is right."""

from collections import defaultdict

from tests.causes.table import NONE, PENDING, RIGHT

UNKNOWN = "unknown"  # a cause that some truths allow: nothing that is measured tells them apart
LEAST_RIGHT = 0.95
LEAST_COUNTED = 0.8  # share of those that ran: else the machine was too busy to say anything
SUMS_UP = "ProfilerReport"  # finds issues where another rule does, or where a cause is named
TITLE = "## The last full run"  # last section of the page
COLUMNS = ("training", "truth", "said first", "right")


def percent(share):
    return "" if share is None else f" {100 * share:.1f} %"


def cells(row):
    right = "yes" if row["right"] else "no" if row["counted"] else "-"
    said = (row["said"] or "no cause") + percent(row["said_share"] or None) if row["judged"] else "-"
    return f"{row['kind']}/{row['name']}", row["truth"] + percent(row["truth_share"]), said, right


def table(rows):
    """Lines of a table in Markdown, which is read in a terminal as well."""
    lines = [COLUMNS, *map(cells, rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(COLUMNS))]
    laid = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
    return [laid[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *laid[1:]]


def with_table(page, lines):
    """The text of a page whose last section is the table: it is replaced."""
    head, title, _ = page.partition(TITLE)
    return head + title + "\n\n" + "\n".join(lines) + "\n"


def is_healthy(row):
    return RIGHT[row["truth"]].causes == {NONE}


def is_pending(row):
    """Whether what is said of it is known to be wrong, and still is."""
    return f"{row['kind']}/{row['name']}" in PENDING and (not row["right"] or bool(row["contradictions"]))


def share(rows):
    return sum(row["right"] for row in rows) / len(rows) if rows else 0.0


def summary(rows):
    """"57 of 60 right (95.0 %), 2 of them said to be unknown; nothing to find: 14 of 14 without a cause"."""
    counted = [row for row in rows if row["counted"]]
    healthy = [row for row in counted if is_healthy(row)]
    named = sum(row["said"] != NONE for row in healthy)
    text = f"{sum(row['right'] for row in counted)} of {len(counted)} right ({100 * share(counted):.1f} %)"
    if unknown := sum(row["right"] and row["said"] == UNKNOWN for row in counted):
        text += f", {unknown} of them said to be unknown"
    text += f"; nothing to find: {len(healthy) - named} of {len(healthy)} without a cause; {findings_of_healthy(rows)}"
    return text + (f"; {len(rows) - len(counted)} not counted" if len(counted) < len(rows) else "")


def findings_of_healthy(rows):
    """"rules found issues in 1 of 48 healthy ones: Dataloader (real/a)": the issues where there is nothing to find."""
    healthy = [row for row in rows if row["counted"] and row["truth"] == "healthy"]
    found = defaultdict(list)
    for row in healthy:
        for rule in row["rules"]:
            if rule != SUMS_UP or row["said"] == NONE and not row["rules"].keys() - {SUMS_UP}:
                found[rule].append(f"{row['kind']}/{row['name']}")
    trainings = {name for names in found.values() for name in names}
    text = f"rules found issues in {len(trainings)} of {len(healthy)} healthy ones"
    return text + ("" if not found else ": " + "; ".join(f"{rule} ({', '.join(names)})" for rule, names in sorted(found.items())))


def faults(rows, short):
    """Why the run has failed; empty when it has not."""
    counted = [row for row in rows if row["counted"]]
    found = [f"{row['name']}: {row['reason']}" for row in rows if row["failed"]]
    found += [f"{row['name']} contradicts itself: {each}" for row in rows for each in row["contradictions"] if not is_pending(row)]
    ran = [row for row in rows if row["judged"]]
    if len([row for row in ran if row["counted"]]) < LEAST_COUNTED * len(ran):
        found.append("too many trainings were not what they are built for: this machine is too busy")
    if short:
        return found + [f"{row['name']}: {row['reason']}" for row in counted if not row["right"] and not is_pending(row)]
    if counted and share(counted) < LEAST_RIGHT:
        found.append(f"fewer than {LEAST_RIGHT:.0%} are right")
    return found + [f"{row['name']} has nothing to find, but {row['said']} is named" for row in counted if is_healthy(row) and row["said"] != NONE]

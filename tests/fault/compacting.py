"""The compactor at its busiest: what it would do within minutes it does at once, and several of them at the same job."""

import subprocess

# Leases too: who is stopped for longer than its own meets the next compactor at the same work.
DUE = """
    insert into compact_tasks (job_id, due_us) select job_id, 0 from jobs where name <> '{}' order by job_id
    on conflict (job_id) do update set due_us = 0, lease_until_us = 0"""
NEVER = """
    insert into compact_tasks (job_id, due_us) select job_id, 9000000000000000000 from jobs where name = '{}'
    on conflict (job_id) do update set due_us = excluded.due_us"""
COMPACTED = "select coalesce(sum(rows), 0) from blocks where metric = ''"  # ticks, which each node's blocks of no metric name once
AT_ONCE = ("--compaction-interval", "100ms")  # options of a service


class Compacting:
    """Makes all jobs due again and again, but for one, which must be there by now and whose frames stay."""

    def __init__(self, service, but_not=""):
        self.service, self.but_not = service, but_not
        self.compacted = set()  # how many ticks were in blocks, each time it was seen
        if but_not:
            service.sql(NEVER.format(but_not))  # before it has frames: the service itself makes those due that have

    def make_due(self):
        """Makes the compaction due; does nothing while PostgreSQL is away."""
        try:
            self.service.sql(DUE.format(self.but_not))
            self.compacted.add(int(self.service.sql(COMPACTED)[0][0]))
        except (subprocess.CalledProcessError, AssertionError):
            pass

    def check(self):
        assert len(self.compacted) > 3, f"blocks did not grow between the faults: {sorted(self.compacted)}"

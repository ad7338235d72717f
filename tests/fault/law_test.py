"""The law notices what it is for."""

import pytest

from tests.fault.law import check_law
from tests.fault.pusher import TICK, Pusher
from tests.support.service import wait_for

OF_JOB = "where job_id = (select job_id from jobs where name = 'law')"
# Breaches of the law: how each is done, and how it is undone; `at` is a tick that stands before another one.
BREAKS = {
    "a frame is gone": ("create table kept as select * from frames where sequence = {at}; delete from frames where sequence = {at}",
                        "insert into frames select * from kept"),
    "a frame is there twice": ("insert into frames select job_id, node_id, 'other', sequence, kind, rank, schema_hash, from_us, to_us, rows,"
                               " clock_suspect, payload from frames where sequence = {at}", "delete from frames where session = 'other'"),
    "a value is another's": ("update frames set payload = case sequence when {at} then (select payload from frames where sequence = {at} + 1) else"
                             " payload end where sequence = {at}",
                            "update frames set payload = kept.payload from kept where frames.sequence = {at}"),
    "one more is lost": (f"update streams set lost = lost + 1 {OF_JOB}", f"update streams set lost = lost - 1 {OF_JOB}"),
    "one fewer is rejected": (f"update streams set rejected = rejected - 1 {OF_JOB}", f"update streams set rejected = rejected + 1 {OF_JOB}"),
    "the cursor is back": (f"update streams set stored = stored - 9 {OF_JOB}", f"update streams set stored = stored + 9 {OF_JOB}"),
}


def test_each_break_of_the_law_is_noticed(service):
    pusher = Pusher(service, "law")
    pusher.start()
    # The frames that are broken below are those behind the first turn of the compactor for this job.
    put_off = "update compact_tasks set due_us = 9000000000000000000 where lease_until_us = 0"
    wait_for(lambda: service.sql(put_off) == [["UPDATE 1"]], "the compactor knows the job")
    begin = pusher.acknowledged
    wait_for(lambda: pusher.acknowledged > begin + 200 or pusher.ended.is_set(), "pushes")
    pusher.ended.set()
    pusher.join(30)
    assert pusher.rejected, "some were refused"
    check_law(service, [pusher])
    at = next(number for number in range(begin + 20, begin + 200) if {pusher.content(number), pusher.content(number + 1)} == {TICK})
    for name, (break_it, mend_it) in BREAKS.items():
        service.sql(break_it.format(at=at))
        with pytest.raises(AssertionError):
            check_law(service, [pusher])
            pytest.fail(name)
        service.sql(mend_it.format(at=at))
        check_law(service, [pusher])

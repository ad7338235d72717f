"""The law after every test: sent = stored + reported lost + reported rejected, in each stream, by number and by value."""

from contextlib import contextmanager

from tests.fault.pusher import INTERVAL_US, LOST, OURS, REJECTED, TICK
from tests.support.service import wait_for

WINDOW = 1000  # ticks, few enough for a bin each
GUARD = "\nstepscope_ingest_duplicate_rows_total 0\n"
STREAMS = """
    select encode(s.session, 'hex'), s.stored, s.lost, s.rejected, count(f.sequence), coalesce(max(f.sequence), 0)
    from streams s left join frames f using (job_id, session)
    group by s.job_id, s.session, s.stored, s.lost, s.rejected"""
OVERLAPS = """
    select a.job_id, a.sequence, b.sequence from frames a join frames b
    on a.job_id = b.job_id and a.node_id = b.node_id and a.kind = 1 and b.kind = 1
    and (a.session, a.sequence) < (b.session, b.sequence) and a.from_us <= b.to_us and b.from_us <= a.to_us limit 5"""
STORED_TICKS = """
    select (select count(*) from frames join jobs using (job_id) where name = '{0}' and kind = 1)
        + (select coalesce(sum(rows), 0) from blocks join jobs using (job_id) where name = '{0}' and metric = '{1}')"""


@contextmanager
def under_law(service, repeats=False):
    """Starts a service for a test. What it then holds is held against the law, unless the test has ended it, and it is ended."""
    try:
        yield service.start()
        if service.process.poll() is None:
            check_law(service, repeats=repeats)
            assert GUARD in service.get("/metrics")[1], "only the key of the table kept a frame out"
    finally:
        service.stop()


def check_law(service, pushers=(), repeats=False):
    """Checks the law for every stream in the database, and all of it for the streams of the pushers, whose numbers and values are
    known. Samples that come as JSON have no numbers: where a test sends some, those sent again may be stored again (`repeats`)."""
    streams = {session: tuple(map(int, numbers)) for session, *numbers in service.sql(STREAMS)}
    for session, (cursor, lost, rejected, frames, newest) in streams.items():
        assert newest <= cursor and frames + lost + rejected <= cursor, f"stream {session}: more than was sent"
    assert repeats or service.sql(OVERLAPS) == [], "a node has an instant twice"
    for pusher in pushers:
        check_pusher(service, pusher, streams.pop(pusher.session.hex(), (0, 0, 0, 0, 0)))
    # Pushers send what nobody can read on purpose; how much of it, only those know that are given.
    refused = [(session, each[2]) for session, each in streams.items() if each[2] != 0 and (pushers or not session.startswith(OURS.hex()))]
    assert refused == [], "what an agent sent was rejected"


def check_pusher(service, pusher, stream):
    cursor, lost, rejected, _, _ = stream
    assert pusher.surprises == []
    assert pusher.acknowledged <= cursor <= pusher.sent, f"{pusher.job}: at {cursor}, acknowledged {pusher.acknowledged}, sent {pusher.sent}"
    sent = {content: [n for n in range(1, cursor + 1) if pusher.content(n) == content] for content in (TICK, LOST, REJECTED)}
    assert (lost, rejected) == (len(sent[LOST]), len(sent[REJECTED])), f"{pusher.job}: lost and rejected"
    assert {n for n in sent[REJECTED] if n <= pusher.acknowledged} <= pusher.rejected, f"{pusher.job}: rejected and not reported"
    found = ticks_of(service, pusher, cursor)
    assert sorted(found) == sent[TICK], f"{pusher.job}: missing {set(sent[TICK]) - set(found)}, too many {set(found) - set(sent[TICK])}"
    assert [n for n, value in found.items() if value != pusher.value(n)] == [], f"{pusher.job}: a value was changed"
    stored = service.sql(STORED_TICKS.format(pusher.job, pusher.metric))
    assert stored == [[str(len(found))]], f"{pusher.job}: a frame is doubled"


def chart(service, path):
    """The series of an answer; a service that is short of something is asked again."""
    return wait_for(lambda: (answer := service.get(path)) and answer[0] not in (429, 503) and answer, f"an answer to {path}")[1]["series"]


def ticks_of(service, pusher, cursor):
    """{number: value} of what is stored, be it a frame still or in a block by now."""
    found = {}
    for first in range(0, cursor + WINDOW, WINDOW):
        begin_us = pusher.begin_us + first * INTERVAL_US
        span = f"from_us={begin_us}&to_us={begin_us + (WINDOW - 1) * INTERVAL_US}&points={WINDOW}"
        for each in chart(service, f"/api/v1/jobs/{pusher.job}/metrics?metric={pusher.metric}&{span}"):
            for at_us, least, greatest in zip(each["times_us"], each["min"], each["max"]):
                if least is not None:
                    assert least == greatest
                    found[(at_us - pusher.begin_us) // INTERVAL_US] = least
    return found

"""The memory that the package takes of a process, however many of its threads mark."""

from stepscope import _memory
from tests.python.intake import finish, training
from tests.support.sanitized import counts_memory

MOST_BYTES = 5_000_000

# Threads that are there before the package is, so that what comes is the package's own; each of them fills its ring.
THREADS = """
import gc, sys, threading
def resident(of=""):
    with open("/proc/self/smaps") as file:
        lines = file.read().splitlines()
    sizes, counts = [0, 0], False
    for line in lines:
        if "-" in line.split()[0]:
            counts = of in line
        elif counts and line.split()[0] in ("Size:", "Rss:"):
            sizes[line.startswith("Rss:")] += int(line.split()[1]) * 1024
    return sizes

def mark():
    begin.wait()
    with stepscope.annotate("of a thread"):
        pass
    all_have_rings.wait()
    for _ in range(9000):
        with stepscope.phase("other"):
            pass
    end.wait()

many = %d
begin, all_have_rings, end = (threading.Barrier(many + 1) for _ in range(3))
threads = [threading.Thread(target=mark) for _ in range(many)]
for thread in threads:
    thread.start()
gc.collect()
before = resident()[1]
import stepscope
begin.wait()
all_have_rings.wait()
end.wait()
for thread in threads:
    thread.join()
said = stepscope.info()
print(resident()[1] - before, *resident("memfd:stepscope"), said["rings"], said["unrecorded"], said["dropped"])
"""


@counts_memory
def test_many_threads_together_stay_within_the_bound(intake):
    for _ in range(3):  # threads that are held up in a call at once let Python's allocator take another MiB
        grown, mapped, touched, rings, unrecorded, dropped = map(int, finish(training(THREADS % 70, intake.path)).split())
        assert rings == _memory.MAX_RINGS and unrecorded >= 70 - _memory.MAX_RINGS and dropped > 0
        assert mapped == sum(_memory.ring_bytes(_memory.slots_of(ring)) for ring in range(rings)) < 3 << 20
        assert touched > mapped * 0.9, "the rings were filled"
        if grown <= MOST_BYTES:
            break
    assert grown <= MOST_BYTES, grown


def test_a_thread_that_comes_later_is_seen_as_the_first_ones(intake):
    code = """
import threading, stepscope
def mark():
    for _ in range(500):
        with stepscope.annotate("work"):
            pass
    ready.wait()
with stepscope.annotate("first"):  # it connects; marks that others make meanwhile are none
    pass
ready = threading.Barrier(20)
threads = [threading.Thread(target=mark) for _ in range(19)]
for thread in threads:
    thread.start()
ready.wait()
for thread in threads:
    thread.join()
print(stepscope.info()["dropped"])
"""
    assert finish(training(code, intake.path)) == "0\n"
    assert intake.drain_until(lambda i: i.ended, "end").annotations == {"first": 1, "work": 19 * 500}

"""Only one thread trains; what others do is not in its steps."""

import threading
import time

from tests.torch.nets import Net, loader, train


def numbers(agent):
    return [row["step"] for row in agent.drain().steps]


def test_threads_that_load_or_infer_beside_the_training_are_not_in_it(agent):
    net, other, ended = Net(), Net(), threading.Event()

    def infer():
        while not ended.is_set():
            for x, _ in loader(2):
                other(x)
            time.sleep(0.001)

    thread = threading.Thread(target=infer)
    thread.start()
    train(30, net)
    ended.set()
    thread.join()
    assert numbers(agent) == list(range(30))
    for row in agent.steps:
        assert sum(row["phases"].values()) <= row["wall_ns"]


def test_a_training_in_a_thread_of_its_own_is_seen(agent):
    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert len(numbers(agent)) >= 9


def test_another_thread_that_trains_beside_is_left_out(agent):
    kept = train(8)
    thread = threading.Thread(target=train, args=(30,))
    thread.start()
    thread.join()
    train(8, *kept)
    assert numbers(agent) == list(range(16))


def test_a_training_goes_on_in_another_thread(agent):
    for _ in range(2):
        thread = threading.Thread(target=train, args=(20,))
        thread.start()
        thread.join()
    assert len(numbers(agent)) > 36

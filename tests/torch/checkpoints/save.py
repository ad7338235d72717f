"""Trains, and saves a checkpoint in each of the ways there are, into the folder of the first argument: run by
checkpoints_test.py, with the hooks and without. The second argument names the ways."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import copy
import functools
import importlib.util
import io
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import warnings
from pathlib import Path

import torch
from torch import nn, save

TAKEN_EARLY = {"save": save, "home": torch.serialization.save}
WAYS = {}


def way(function):
    WAYS[function.__name__] = function
    return function


def trained():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    for x in torch.utils.data.DataLoader(torch.ones(80, 4), 4):
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
    return net, optimizer


@way
def direct(state, net, optimizer, place):
    torch.save(state, place / "torch.pt")
    torch.serialization.save(state, place / "home.old", _use_new_zipfile_serialization=False)
    torch.save(optimizer.state_dict(), f=place / "optimizer.pt", pickle_protocol=4)
    torch.save(net, place / "whole.pt")
    with open(place / "file.pt", "wb") as file:
        torch.save(state, file)


@way
def taken_by_name(state, net, optimizer, place):
    from torch import save as late

    late(state, place / "late.pt")
    save(state, place / "early.pt")
    functools.partial(TAKEN_EARLY["home"], state)(place / "partial.pt")
    print(late is save is TAKEN_EARLY["home"] is torch.save is torch.serialization.save)


@way
def sent_to_others(state, net, optimizer, place):
    """What pools and executors do: the function goes by its name, and comes back as itself."""
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        print(pickle.loads(pickle.dumps(torch.save, protocol)) is torch.save, pickle.dumps(torch.save, protocol))
    print(copy.copy(torch.save) is copy.deepcopy(torch.save) is torch.save)
    pickle.loads(pickle.dumps(functools.partial(torch.save, state)))(place / "partial.pt")


@way
def forked_pool(state, net, optimizer, place):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.apply_async(torch.save, (state, str(place / "forked.pt")))
        pool.close()
        pool.join()


@way
def spawned_pool(state, net, optimizer, place):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pool.apply_async(torch.save, (state, str(place / "spawned.pt")))  # nobody asks for the result
        pool.close()
        pool.join()


@way
def served_pool(state, net, optimizer, place):
    process = multiprocessing.get_context("forkserver").Process(target=torch.save, args=(state, str(place / "served.pt")))
    process.start()
    process.join()
    print(process.exitcode)


@way
def executor(state, net, optimizer, place):
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        print(pool.submit(torch.save, state, str(place / "executor.pt")).result(60))


@way
def threads(state, net, optimizer, place):
    thread = threading.Thread(target=torch.save, args=(state, place / "thread.pt"))
    thread.start()
    thread.join()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(functools.partial(torch.save, state), [place / "one.pt", place / "two.pt"]))
    asyncio.run(awaited(state, place))


async def awaited(state, place):
    await asyncio.to_thread(torch.save, state, place / "to_thread.pt")
    await asyncio.get_running_loop().run_in_executor(None, torch.save, state, place / "in_executor.pt")


@way
def forked_child(state, net, optimizer, place):
    child = os.fork()
    if not child:
        torch.save(state, place / "child.pt")
        os._exit(5)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


@way
def signal_handler(state, net, optimizer, place):
    signal.signal(signal.SIGUSR1, lambda *_: torch.save(state, place / "signal.pt"))
    os.kill(os.getpid(), signal.SIGUSR1)


@way
def at_exit(state, net, optimizer, place):
    atexit.register(torch.save, state, place / "exit.pt")


@way
def class_of_the_script(state, net, optimizer, place):
    """As joblib's workers, Ray and Spark send the classes of a script: attribute by attribute."""
    if importlib.util.find_spec("joblib") is None:
        return
    from joblib.externals import cloudpickle

    (place / "model").write_bytes(cloudpickle.dumps((Model, TAKEN_EARLY["save"])))
    cloudpickle.loads((place / "model").read_bytes())[0]()(torch.ones(1, 4))


@way
def tensors_alone(state, net, optimizer, place):
    if importlib.util.find_spec("safetensors") is None:
        return
    import safetensors.torch

    safetensors.torch.save_file(state, place / "tensors")
    pickle.loads(pickle.dumps(safetensors.torch.save_model))(net, str(place / "model"))


@way
def distributed(state, net, optimizer, place):
    if importlib.util.find_spec("torch.distributed.checkpoint") is None:
        return
    import torch.distributed.checkpoint as dcp

    dcp.save({"net": net.state_dict()}, checkpoint_id=place / "one")
    pickle.loads(pickle.dumps(dcp.save))({"net": net.state_dict()}, checkpoint_id=place / "two")
    dcp.state_dict_saver.save({"net": net.state_dict()}, storage_writer=dcp.FileSystemWriter(place / "home"))
    dcp.save_state_dict({"net": net.state_dict()}, dcp.FileSystemWriter(place / "old"), no_dist=True)


@way
def asynchronous(state, net, optimizer, place):
    if importlib.util.find_spec("torch.distributed.checkpoint") is None:
        return
    import torch.distributed.checkpoint as dcp

    torch.distributed.init_process_group("gloo", init_method=f"file://{place.resolve()}/meet", rank=0, world_size=1)
    dcp.async_save({"net": net.state_dict()}, checkpoint_id=place / "later").result()
    (place / "meet").unlink(missing_ok=True)  # to destroy the group here hangs now and then (see examples/ranks.py)


@way
def refused(state, net, optimizer, place):
    """Each of them says what it always says."""
    tries = (lambda: torch.save(state), lambda: torch.save(state, "/nowhere/at.pt"), lambda: torch.save(lambda: 1, io.BytesIO()),
             lambda: torch.save(state, io.BytesIO(), nothing=1), lambda: torch.save(state, io.BytesIO(), pickle_protocol="two"))  # fmt: skip
    for each in tries:
        try:
            each()
        except Exception as problem:
            print(type(problem).__name__, problem)
    torch.save(state, "/nowhere/at.pt")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        return self.layer(x)


def train_model():
    """So the script's own class is one whose calls are watched."""
    net = Model()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for x in torch.utils.data.DataLoader(torch.ones(80, 4), 4):
        net(x).sum().backward()
        optimizer.step()


def main():
    warnings.filterwarnings("ignore", message="TypedStorage|torch.distributed is|.*mutable default")
    net, optimizer = trained()
    train_model()
    state = {name: value.clone() for name, value in net.state_dict().items()}
    for name in sys.argv[2:]:
        print(name, flush=True)
        (Path(sys.argv[1]) / name).mkdir()
        WAYS[name](state, net, optimizer, Path(sys.argv[1]) / name)


if __name__ == "__main__":
    main()

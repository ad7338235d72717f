"""Trainings that wait for their data."""

import http.server
import multiprocessing
import os
import queue
import tempfile
import threading
import time
import urllib.request

import torch
from clocks import training
from torch.utils.data import DataLoader, Dataset
from work import SIZE, Model, Samples, batches_of, compute_cpu, one_step, train


@training("preprocessing", "data")
def preprocessing_in_workers(run):
    """Two workers compute 15 ms for each of four samples; the model takes 10 ms."""
    train(run, Model(0.01), DataLoader(Samples(0.015, compute_cpu), 4, num_workers=2))


@training("preprocessing", "data")
def preprocessing_in_one_worker(run):
    """One worker computes for 60 ms a batch; the model takes 25 ms."""
    train(run, Model(0.025), DataLoader(Samples(0.015, compute_cpu), 4, num_workers=1))


@training("preprocessing", "data")
def preprocessing_in_process(run):
    """Without workers: the training thread prepares each batch for 60 ms; the model takes 20 ms."""
    train(run, Model(0.02), DataLoader(Samples(0.015, compute_cpu), 4))


@training("preprocessing", "data")
def preprocessing_by_a_collate_function(run):
    """The samples are there at once; to put them together takes 50 ms of computing in the training thread."""

    def collate(samples):
        compute_cpu(0.05)
        return torch.utils.data.default_collate(samples)

    train(run, Model(0.02), DataLoader(Samples(), 4, collate_fn=collate))


@training("preprocessing", "data")
def bursts_of_preprocessing(run):
    """Four workers compute 0.1 s for a batch each, so that four batches come at once, and then none for long."""
    train(run, Model(0.01), DataLoader(Samples(0.025, compute_cpu), 4, num_workers=4))


@training("raw input", "data")
def bursts_of_a_remote_source(run):
    """Four workers wait 0.4 s for a batch each: the loop waits in each fourth step only."""
    train(run, Model(0.02), DataLoader(Samples(0.1), 4, num_workers=4))


@training("raw input", "data")
def remote_source_in_workers(run):
    """Two workers wait 40 ms for each sample; the model takes 20 ms."""
    train(run, Model(0.02), DataLoader(Samples(0.04), 4, num_workers=2))


@training("raw input", "data")
def remote_source_in_process(run):
    """Without workers: each sample is waited for for 15 ms; the model takes 30 ms."""
    train(run, Model(0.03), DataLoader(Samples(0.015), 4))


@training("raw input", "data")
def few_slow_samples(run):
    """Without workers: each 40th sample is waited for for 0.8 s, all others are there; the model takes 40 ms for four of them."""

    class Skewed(Samples):
        def __getitem__(self, i):
            if i % 40 == 39:
                time.sleep(0.8)
            return super().__getitem__(i)

    train(run, Model(0.04), DataLoader(Skewed(), 4))


@training("waits for data of any kind", "data")
def workers_of_each_epoch(run):
    """Each epoch of eight batches starts its workers anew, which read an index for 0.5 s first; the model takes 40 ms."""

    def begin(_):
        time.sleep(0.5)

    train(run, Model(0.04), DataLoader(Samples(count=32), 4, num_workers=2, worker_init_fn=begin))


class SlowServer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.02)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"1" * SIZE)

    def log_message(self, *_):
        pass


class Fetched(Dataset):
    """Each sample comes from a server over HTTP."""

    def __init__(self, url):
        self.url = url

    def __len__(self):
        return 10**6

    def __getitem__(self, i):
        with urllib.request.urlopen(self.url, timeout=20) as answer:
            return torch.tensor([float(each) for each in answer.read().decode()]), torch.ones(1)


@training("raw input", "data")
def slow_http_server(run):
    """Each sample comes from a server that takes 20 ms to answer; the model takes 20 ms for four of them."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SlowServer)
    process = multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True)
    process.start()
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    train(run, Model(0.02), DataLoader(Fetched(url), 4))
    process.terminate()


class Blocks(Dataset):
    """Each sample is a piece of a file that the page cache does not hold."""

    def __init__(self, path, size, piece):
        self.path, self.size, self.piece = path, size, piece

    def __len__(self):
        return 10**6

    def __getitem__(self, i):
        file = os.open(self.path, os.O_RDONLY)
        try:
            at = (i * 7919 * self.piece) % (self.size - self.piece)
            os.posix_fadvise(file, at, self.piece, os.POSIX_FADV_DONTNEED)
            os.posix_fadvise(file, at, self.piece, os.POSIX_FADV_RANDOM)  # without reading ahead each page is a read of its own
            for block in range(at, at + self.piece, 4096):
                os.pread(file, 4096, block)
        finally:
            os.close(file)
        return torch.ones(SIZE), torch.ones(1)


@training("raw input", "data")
def cold_files(run):
    """Two workers read samples of 2 MB in pages from a file that is not cached; the model takes 10 ms."""
    size, piece = 512 << 20, 2 << 20
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as made:
        for _ in range(size >> 20):
            made.write(os.urandom(1 << 20))
        made.flush()
        os.fsync(made.fileno())
        train(run, Model(0.01), DataLoader(Blocks(made.name, size, piece), 4, num_workers=2))


def ahead(batches, depth=2):
    """The batches as a thread of its own reads them; the loop waits at a queue, which no hook sees."""
    waiting = queue.Queue(depth)

    def read():
        for batch in batches:
            waiting.put(batch)
        waiting.put(None)

    threading.Thread(target=read, daemon=True).start()
    return iter(waiting.get, None)


def train_from_a_thread(run, model, loader):
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    batches = ahead(loader)
    while run.going():
        with run.part("data"):
            x, y = next(batches)
        one_step(run, model, optimizer, x, y)
        run.step_ended()


@training("waits that no hook sees", "data")
def prefetch_thread(run):
    """A thread reads the loader ahead, but each batch takes it 120 ms; the model takes 30 ms."""
    train_from_a_thread(run, Model(0.03), DataLoader(Samples(0.03), 4))


@training("waits that no hook sees", "data")
def generator_of_batches(run):
    """Batches come from a generator function, which sleeps for 80 ms; there is no loader. The model takes 30 ms."""

    def batches():
        while True:
            time.sleep(0.08)
            yield torch.ones(4, SIZE), torch.ones(4, 1)

    optimizer, model, source = None, Model(0.03), batches()
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    while run.going():
        with run.part("data"):
            x, y = next(source)
        one_step(run, model, optimizer, x, y)
        run.step_ended()


@training("raw input", "data")
def step_per_group(run):
    """One optimizer steps once for each of six groups of parameters; each batch is waited for for 80 ms, the model takes 60 ms."""
    net = torch.nn.Sequential(*[torch.nn.Linear(SIZE, SIZE) for _ in range(6)], Model(0.06))
    groups = [list(layer.parameters()) for layer in net]
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    for x, y in batches_of(run, DataLoader(Samples(0.02), 4)):
        with run.part("forward"):
            loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        for group in groups:
            optimizer.param_groups[0]["params"] = group
            optimizer.step()
        net.zero_grad()
        run.step_ended()

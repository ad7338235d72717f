#!/usr/bin/env python3
"""Trains a small network on gzip-compressed images, with a loader that is the bottleneck.

The images are written first, to a temporary folder that is removed at the end. Each batch is read
and decompressed in the training process itself, as many a first training script does it, so the
network waits for its data for more than half of each step. It needs NumPy, and runs the same
without an agent:

    python3 examples/slow_loader.py --seconds 20
    stepscope-agent run --server http://127.0.0.1:8080 --job slow-loader -- python3 examples/slow_loader.py
"""

import argparse
import gzip
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

# One thread is enough for this network, and leaves the other cores alone. NumPy reads it once.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

try:
    import stepscope
except ModuleNotFoundError:  # not installed: the one beside this file
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
    import stepscope

CLASSES, HIDDEN = 10, 40
SIDE, POOL = 128, 2  # images as stored; the network sees one value for each 2 x 2 pixels
PIXELS, INPUTS = SIDE**2, (SIDE // POOL) ** 2
BATCH = 384
FILES = 16
RATE, MOMENTUM = 0.0002, 0.9


def write_files(folder, rng):
    """Writes one batch a file: labels, then pixels of a pattern for each class under noise."""
    patterns = rng.integers(0, 64, (CLASSES, PIXELS))
    paths = []
    for number in range(FILES):
        labels = rng.integers(0, CLASSES, BATCH)
        noise = rng.integers(0, 192, (BATCH, PIXELS), dtype=np.uint8)
        pixels = (patterns[labels] + noise).astype(np.uint8)
        paths.append(folder / f"batch-{number:02}.gz")
        with gzip.open(paths[-1], "wb", compresslevel=1) as file:
            file.write(labels.astype(np.uint8).tobytes() + pixels.tobytes())
    return paths


class Images:
    """Reads the files in a new order for each epoch, for ever."""

    def __init__(self, paths, rng):
        self.paths, self.rng = paths, rng
        self.batch_size, self.num_workers = BATCH, 0

    def __iter__(self):
        while True:
            for index in self.rng.permutation(len(self.paths)):
                yield self.read(self.paths[index])

    def read(self, path):
        with stepscope.annotate("read file"):
            compressed = path.read_bytes()
        with stepscope.annotate("decompress"):
            values = np.frombuffer(gzip.decompress(compressed), np.uint8)
        with stepscope.annotate("shrink"):
            cells = values[BATCH:].reshape(BATCH, SIDE // POOL, POOL, SIDE // POOL, POOL)
            pixels = cells.mean(axis=(2, 4), dtype=np.float32).reshape(BATCH, INPUTS)
        with stepscope.annotate("normalise"):
            pixels -= pixels.mean(axis=1, keepdims=True)
            pixels /= pixels.std(axis=1, keepdims=True)
        return pixels, values[:BATCH]


class Network:
    """Two layers, ReLU and softmax, trained with momentum."""

    def __init__(self, rng):
        self.weights = [
            rng.normal(0, 1 / np.sqrt(rows), (rows, columns)).astype(np.float32)
            for rows, columns in ((INPUTS, HIDDEN), (HIDDEN, CLASSES))
        ]
        self.speeds = [np.zeros_like(weight) for weight in self.weights]

    def forward(self, pixels):
        self.hidden = np.maximum(pixels @ self.weights[0], 0)
        scores = self.hidden @ self.weights[1]
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def backward(self, pixels, shares, labels):
        errors = shares.copy()
        errors[np.arange(len(labels)), labels] -= 1
        errors /= len(labels)
        behind = (errors @ self.weights[1].T) * (self.hidden > 0)
        return pixels.T @ behind, self.hidden.T @ errors

    def update(self, gradients):
        for weight, speed, gradient in zip(self.weights, self.speeds, gradients):
            speed *= MOMENTUM
            speed -= RATE * gradient
            weight += speed


def train(network, batches, deadline, most_steps):
    """Trains until the time is over; returns the count of steps and the last losses."""
    losses = []
    for pixels, labels in stepscope.loader(batches):
        with stepscope.phase("forward"):
            shares = network.forward(pixels)
        with stepscope.phase("loss"):
            losses.append(float(-np.log(shares[np.arange(BATCH), labels] + 1e-9).mean()))
        with stepscope.phase("backward"):
            gradients = network.backward(pixels, shares, labels)
        with stepscope.phase("optimizer"):
            network.update(gradients)
        stepscope.step()
        if len(losses) % 50 == 1:
            print(f"step {len(losses) - 1:4}  loss {losses[-1]:.4f}", flush=True)
        if time.monotonic() >= deadline or len(losses) == most_steps:
            return losses


def run(options):
    began = time.monotonic()
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory(prefix="slow-loader-") as folder:
        print(f"writing {FILES} files of {BATCH} images to {folder}", flush=True)
        paths = write_files(Path(folder), rng)
        network = Network(rng)
        losses = train(network, Images(paths, rng), began + options.seconds, options.steps)
    seconds = time.monotonic() - began
    print(f"{len(losses)} steps in {seconds:.0f} s, loss {losses[0]:.4f} -> {losses[-1]:.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=65, help="how long all of it takes (default 65)")
    parser.add_argument("--steps", type=int, default=0, help="end after this many steps, if earlier")
    parser.add_argument("--seed", type=int, default=1, help="of the images and the network")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        run(parser.parse_args())
    except KeyboardInterrupt:
        print("interrupted")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

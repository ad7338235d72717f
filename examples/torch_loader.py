#!/usr/bin/env python3
"""Trains a small PyTorch network on images that take long to load. Nothing in here knows of Stepscope:

    stepscope-agent run --server http://127.0.0.1:8080 --job torch-loader -- python3 examples/torch_loader.py
    stepscope-agent run --server http://127.0.0.1:8080 --job torch-fast -- python3 examples/torch_loader.py --decode-ms 0 --workers 2
"""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE, CLASSES = 32, 10


class Images(Dataset):
    """Each image is made when it is asked for, and then "decoded" for some time."""

    def __init__(self, count, decode_ms):
        self.count, self.decode_s = count, decode_ms / 1000

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        image = torch.rand(3, SIDE, SIDE, generator=torch.Generator().manual_seed(i))
        end = time.perf_counter() + self.decode_s
        while time.perf_counter() < end:
            pass
        return image, i % CLASSES


def network(width):
    return nn.Sequential(
        nn.Conv2d(3, width, 3), nn.ReLU(), nn.Conv2d(width, width, 3), nn.ReLU(), nn.Flatten(), nn.Linear(width * (SIDE - 4) ** 2, CLASSES)
    )


def train(options):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    images = Images(options.batch * 20, options.decode_ms)
    batches = DataLoader(images, options.batch, shuffle=True, num_workers=options.workers, persistent_workers=options.workers > 0)
    model, loss = network(options.width), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    end, epoch = time.monotonic() + options.seconds, 0
    while time.monotonic() < end:
        for x, y in batches:
            optimizer.zero_grad()
            value = loss(model(x), y)
            value.backward()
            optimizer.step()
        epoch += 1
        print(f"epoch {epoch:3}  loss {value.item():.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--decode-ms", type=float, default=4, help="for each image")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--width", type=int, default=16, help="channels of the network")
    train(parser.parse_args())


if __name__ == "__main__":
    main()

"""Networks and batches that the tests train with."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, inputs=8, layers=3):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(inputs, inputs) for _ in range(layers))
        self.head = nn.Linear(inputs, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)


def loader(batches=10, **named):
    generator = torch.Generator().manual_seed(7)
    x, y = torch.randn(batches * 4, 8, generator=generator), torch.randn(batches * 4, 1, generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=4, **named)


def step(net, optimizer, x, y, loss=nn.functional.mse_loss):
    optimizer.zero_grad()
    loss(net(x), y).backward()
    optimizer.step()


def train(batches=10, net=None, optimizer=None):
    """Trains for so many steps; the last of them is open until something comes after it."""
    net = net or Net()
    optimizer = optimizer or torch.optim.SGD(net.parameters(), 0.01)
    for x, y in loader(batches):
        step(net, optimizer, x, y)
    return net, optimizer

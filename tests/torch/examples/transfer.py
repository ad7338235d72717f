"""Weights of one network go on in another one: frozen layers, a new head, a scheduler, the best state kept and copied."""

import copy
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(2)


class Points(Dataset):
    """Items are read from a file, and transformed when they are asked for."""

    def __init__(self, path, transform):
        self.rows = [line.split(",") for line in open(path).read().split()]
        self.transform = transform

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        *values, label = self.rows[i]
        return self.transform(torch.tensor([float(each) for each in values])), int(label)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2))
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(self.layers(x))


def fit(model, loaders, optimizer, scheduler, epochs):
    best, best_right = copy.deepcopy(model.state_dict()), -1
    for epoch in range(epochs):
        for part in ("train", "test"):
            model.train(part == "train")
            right = 0
            for x, y in loaders[part]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(part == "train"):
                    said = model(x)
                    loss = nn.functional.cross_entropy(said, y)
                    if part == "train":
                        loss.backward()
                        optimizer.step()
                right += int((said.argmax(1) == y).sum())
            if part == "train":
                scheduler.step()
            elif right > best_right:
                best, best_right = copy.deepcopy(model.state_dict()), right
        print(epoch, scheduler.get_last_lr(), right, loss.item().hex())
    model.load_state_dict(best)
    return model


path = f"{sys.argv[1]}/points.csv"
with open(path, "w") as file:
    for i in range(80):
        file.write(f"{i % 7},{i % 5},{i % 3},{int(i % 7 > 3)}\n")
data = Points(path, lambda x: x / 3 - 1)
loaders = {"train": DataLoader(data, 8, shuffle=True, num_workers=2), "test": DataLoader(data, 20)}
first = Backbone()
optimizer = torch.optim.SGD(first.parameters(), 0.05, momentum=0.9)
first = fit(first, loaders, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5), 2)
second = copy.deepcopy(first)
for parameter in second.layers.parameters():
    parameter.requires_grad = False
second.head = nn.Linear(16, 2)
optimizer = torch.optim.Adam(second.head.parameters(), 0.02)
second = fit(second, loaders, optimizer, torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9), 2)
print(all(torch.equal(one, other) for one, other in zip(first.layers.parameters(), second.layers.parameters())))
torch.save(second, f"{sys.argv[1]}/whole.pt")
scripted = torch.jit.script(second.eval())
scripted.save(f"{sys.argv[1]}/scripted.module")
print(torch.equal(scripted(torch.ones(1, 3)), second(torch.ones(1, 3))), type(second).__call__ is nn.Module.__call__)

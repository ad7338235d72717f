"""Two networks against each other, each with an optimizer; gradients through the one train the other."""

import sys

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(4)


def prepare(module):
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, 0.0, 0.2)
        nn.init.zeros_(module.bias)


maker = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2)).apply(prepare)
judge = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid()).apply(prepare)
criterion = nn.BCELoss()
for_judge, for_maker = (torch.optim.Adam(each.parameters(), lr=0.002, betas=(0.5, 0.999)) for each in (judge, maker))
real = torch.utils.data.DataLoader(torch.randn(320, 2) * 0.2 + torch.tensor([1.0, -1.0]), 16, shuffle=True, drop_last=True)
fixed, history = torch.randn(8, 4), []
for epoch in range(2):
    for i, true in enumerate(real):
        judge.zero_grad()
        loss_true = criterion(judge(true).view(-1), torch.ones(16))
        loss_true.backward()
        made = maker(torch.randn(16, 4))
        loss_made = criterion(judge(made.detach()).view(-1), torch.zeros(16))
        loss_made.backward()
        for_judge.step()
        maker.zero_grad()
        loss = criterion(judge(made).view(-1), torch.ones(16))
        loss.backward()
        for_maker.step()
        history.append((loss_true + loss_made).item() + loss.item())
        if i % 8 == 0:
            print(epoch, i, history[-1].hex())
    with torch.no_grad():
        print(maker(fixed).mean(0).tolist())
torch.save({"maker": maker.state_dict(), "optimizer": for_maker.state_dict(), "history": history}, f"{sys.argv[1]}/state.pt")

"""An image classifier: two loaders, a loop over epochs, a test after each, and the weights at the end."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
kinds = torch.arange(240) % 6
images = torch.randn(240, 1, 8, 8) * 0.3 + kinds.view(-1, 1, 1, 1) / 3
train, test = (DataLoader(TensorDataset(images[part], kinds[part]), batch_size=16, shuffle=shuffled) for part, shuffled in ((slice(0, 192), True), (slice(192, 240), False)))
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 6)).to(device)
criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
print(model)

for epoch in range(3):
    model.train()
    for batch, (x, y) in enumerate(train):
        loss = criterion(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if batch % 5 == 0:
            print(f"epoch {epoch} batch {batch} loss {loss.item():.9f}")
    model.eval()
    with torch.no_grad():
        right = sum(int((model(x.to(device)).argmax(1) == y.to(device)).sum()) for x, y in test)
    print(f"epoch {epoch}: {right} of {len(test.dataset)} are right")

torch.save(model.state_dict(), f"{sys.argv[1]}/model.pth")
again = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 6))
again.load_state_dict(torch.load(f"{sys.argv[1]}/model.pth"))
print([round(float(each), 6) for each in again.eval()(images[:1])[0]])

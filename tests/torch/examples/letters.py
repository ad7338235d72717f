"""A recurrent network learns to write words letter by letter, one word a step, with no loader and a bare update at first."""

import random
import string

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(5)
random.seed(5)
LETTERS = string.ascii_lowercase + "."
WORDS = ["".join(random.choice("kstmn") + random.choice("aeiou") for _ in range(random.randint(1, 3))) for _ in range(60)]


def encoded(word):
    return torch.tensor([LETTERS.index(letter) for letter in word])


class Writer(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embedding, self.cell, self.out = nn.Embedding(len(LETTERS), width), nn.GRUCell(width, width), nn.Linear(width, len(LETTERS))

    def forward(self, letter, state):
        state = self.cell(self.embedding(letter).view(1, -1), state)
        return nn.functional.log_softmax(self.out(state), 1), state


model, criterion = Writer(), nn.NLLLoss()


def learn(word):
    model.zero_grad()
    state, loss = torch.zeros(1, 24), torch.zeros(())
    for letter, following in zip(encoded("." + word), encoded(word + ".")):
        said, state = model(letter, state)
        loss = loss + criterion(said, following.view(1))
    loss.backward()
    return loss.item() / len(word)


for step in range(30):
    loss = learn(random.choice(WORDS))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(parameter.grad, alpha=-0.005)
print(loss.hex())
optimizer = torch.optim.Adagrad(model.parameters(), 0.05)
for step in range(60):
    loss = learn(random.choice(WORDS))
    torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.hex())
with torch.no_grad():
    for start in "kst":
        word, state = start, torch.zeros(1, 24)
        for _ in range(8):
            said, state = model(encoded(word[-1])[0], state)
            word += LETTERS[int(said.argmax())]
        print(word)

"""Learning from rewards: an agent plays in a world of its own, remembers, and learns from samples of what it remembers."""

import random
from collections import deque

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(3)
random.seed(3)


class Corridor:
    """Ten places in a row; the reward waits at the right end."""

    def reset(self):
        self.place, self.moves = 4, 0
        return self.seen()

    def seen(self):
        return nn.functional.one_hot(torch.tensor(self.place), 10).float()

    def step(self, action):
        self.moves += 1
        self.place = max(0, min(9, self.place + (1 if action else -1)))
        return self.seen(), float(self.place == 9), self.place == 9 or self.moves == 30


def network():
    return nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 2))


policy, target = network(), network()
target.load_state_dict(policy.state_dict())
optimizer, memory, world = torch.optim.AdamW(policy.parameters(), lr=0.01), deque(maxlen=500), Corridor()
for episode in range(12):
    state, total, over = world.reset(), 0.0, False
    while not over:
        if random.random() < 0.9 - 0.07 * episode:
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = int(policy(state).argmax())
        following, reward, over = world.step(action)
        memory.append((state, action, following, reward, over))
        state, total = following, total + reward
        if len(memory) >= 16:
            states, actions, nexts, rewards, ends = zip(*random.sample(memory, 16))
            chosen = policy(torch.stack(states)).gather(1, torch.tensor(actions).view(-1, 1)).squeeze(1)
            with torch.no_grad():
                best = target(torch.stack(nexts)).max(1).values * (1 - torch.tensor(ends).float())
            loss = nn.functional.smooth_l1_loss(chosen, torch.tensor(rewards) + 0.9 * best)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_value_(policy.parameters(), 100)
            optimizer.step()
            for mine, other in zip(target.parameters(), policy.parameters()):
                mine.data.lerp_(other.data, 0.05)
    print(episode, world.moves, total, float(policy(world.seen()).sum()).hex())

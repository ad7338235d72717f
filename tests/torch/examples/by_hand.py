"""A sine is fitted four times, from numbers by hand to a module, with LBFGS and its closure at the end."""

import math

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(1)
x = torch.linspace(-math.pi, math.pi, 200)
y = torch.sin(x)

a, b, c, d = (torch.randn((), requires_grad=True) for _ in range(4))
for step in range(60):
    loss = (a + b * x + c * x**2 + d * x**3 - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        for each in (a, b, c, d):
            each -= 1e-6 * each.grad
            each.grad = None
print([each.item().hex() for each in (a, b, c, d)])


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(context, given):
        context.save_for_backward(given)
        return given**3

    @staticmethod
    def backward(context, gradient):
        return gradient * 3 * context.saved_tensors[0] ** 2


class Cubic(nn.Module):
    def __init__(self):
        super().__init__()
        self.factors = nn.Parameter(torch.randn(3))

    def forward(self, x):
        return self.factors[0] + self.factors[1] * x + self.factors[2] * Cube.apply(x)


for kind, options in ((torch.optim.RMSprop, {"lr": 0.01}), (torch.optim.LBFGS, {"max_iter": 5})):
    model = Cubic()
    optimizer = kind(model.parameters(), **options)
    for step in range(20):

        def closure():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        loss = optimizer.step(closure)
    print(kind.__name__, float(loss).hex(), [float(each).hex() for each in model.factors])

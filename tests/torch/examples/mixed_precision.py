"""Mixed precision on a CPU, gradients of several batches in one step, and a scaler that is there for the GPU only."""

import torch
from torch import nn
from torch.cuda.amp import GradScaler
from torch.utils.data import DataLoader

torch.set_num_threads(1)
torch.manual_seed(7)
model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4))
optimizer = torch.optim.AdamW(model.parameters(), 0.01)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, total_steps=24)
scaler, accumulate = GradScaler(enabled=False), 4
averaged = torch.optim.swa_utils.AveragedModel(model)
for step, x in enumerate(DataLoader(torch.randn(768, 16), 8)):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1)) / accumulate
    scaler.scale(loss).backward()
    if (step + 1) % accumulate == 0:
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        scheduler.step()
        averaged.update_parameters(model)
        print(step, loss.item().hex(), norm.item().hex(), scheduler.get_last_lr()[0].hex())
print([float(each.double().sum()).hex() for each in averaged.parameters()])

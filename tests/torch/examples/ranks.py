"""Two ranks over gloo: a model in DistributedDataParallel, a sampler that divides the data, sums and objects by collectives."""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import all_reduce, barrier
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def work(rank, folder):
    torch.set_num_threads(1)
    torch.manual_seed(6)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    x = torch.randn(96, 5)
    data = TensorDataset(x, x.sum(1, keepdim=True))
    sampler = DistributedSampler(data, shuffle=True, seed=6)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1)))
    optimizer, lines = torch.optim.SGD(model.parameters(), 0.05), []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for batch, target in DataLoader(data, 8, sampler=sampler):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(batch), target)
            loss.backward()
            optimizer.step()
            total = loss.detach().clone()
            all_reduce(total)
        gathered = [None, None]
        dist.all_gather_object(gathered, {"rank": rank, "loss": loss.item().hex()})
        lines.append(f"{epoch} {total.item().hex()} {gathered}")
        barrier()
    parts = [torch.zeros(2) for _ in range(2)]
    dist.all_gather(parts, torch.full((2,), float(rank)))
    said = [{"from": "rank 0"} if rank == 0 else None]
    dist.broadcast_object_list(said)
    lines.append(f"{parts} {said} {all_reduce is dist.distributed_c10d.all_reduce}")
    open(f"{folder}/rank{rank}", "w").write("\n".join(lines))
    if rank == 0:
        torch.save(model.module.state_dict(), f"{folder}/model.pt")
    # To destroy the group here hangs PyTorch 1.13 now and then: it joins a thread that waits for the interpreter's lock.
    # Without that a thread of gloo that lets go of the last tensors while the interpreter ends aborts the process, on a
    # busy machine about once in a hundred times: it has the time to be done with them.
    time.sleep(0.5)


if __name__ == "__main__":
    torch.multiprocessing.spawn(work, (sys.argv[1],), nprocs=2)
    print("both have ended")

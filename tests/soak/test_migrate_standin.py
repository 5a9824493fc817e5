"""Migrated trainings on the stand-in NPU, with a real torch: the numbers of the original, two ranks included.

`OUTLAST_TORCH_PYTHON` names a Python with torch; without it, this one is asked. Compiling takes a minute or two.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from outlast.operations.migrate_trial import try_migrated
from servers.ports import free_ports

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]
PYTHON = os.environ.get("OUTLAST_TORCH_PYTHON", sys.executable)

PLAIN = """
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.cuda.manual_seed_all(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.2), nn.Flatten(), nn.Linear(144, 3))
net = nn.DataParallel(net).cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
scaler = torch.cuda.amp.GradScaler()
x, y = torch.randn(16, 1, 8, 8), torch.randint(0, 3, (16,)).cuda(non_blocking=True)
for step in range(5):
    with torch.cuda.amp.autocast():
        loss = nn.functional.cross_entropy(net(x.to("cuda:0")), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print("step %d loss %.6f" % (step, loss.item()))
lstm = nn.LSTM(4, 8, batch_first=True).to(device)
out, _ = lstm(torch.randn(2, 5, 4, device="cuda"))
out.sum().backward()
print("lstm %.6f %.6f" % (out.sum().item(), lstm.weight_ih_l0.grad.abs().sum().item()))
"""

TWO_RANKS = """
import os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP


def work(rank, size):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", "PORT"
    dist.init_process_group("nccl", rank=rank, world_size=size)
    torch.cuda.set_device(rank)
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).cuda(rank)
    net = DDP(net, device_ids=[rank])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    torch.manual_seed(rank + 1)
    x, y = torch.randn(32, 4).cuda(rank), torch.randn(32, 1).to(f"cuda:{rank}")
    for step in range(4):
        loss = torch.nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        if rank == 0:
            print("step %d loss %.6f" % (step, total.item() / size), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(work, args=(2,), nprocs=2)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
        pytest.skip(f"{PYTHON} has no torch; name one with OUTLAST_TORCH_PYTHON")
    return tmp_path_factory.mktemp("standin")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("script", [PLAIN, TWO_RANKS], ids=["plain", "two ranks"])
@pytest.mark.parametrize("light", [True, False], ids=["names", "device"])
def test_a_migrated_training_prints_the_same_numbers(home, folder, script, light):
    Path("train.py").write_text(script.replace('"PORT"', f'"{free_ports(1)[0]}"'))
    trial = try_migrated(home, [PYTHON, "train.py"], light=light)
    assert trial.agree and trial.largest_difference == 0 and trial.compared >= 4, (trial.sentence, trial.lines)
    assert trial.light == light


def test_a_tensor_left_behind_is_noticed_on_the_device(home, folder):
    Path("train.py").write_text(
        "import torch\nx = torch.ones(3).cuda()\nprint(1.0, (x + torch.ones(3)).sum().item())\n"
    )
    trial = try_migrated(home, [PYTHON, "train.py"])
    assert not trial.agree and any("same device" in line for line in trial.lines)

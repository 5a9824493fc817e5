import torch
from torch.utils.tensorboard import SummaryWriter
import numpy as np
writer = SummaryWriter("runs/exp1")
x = torch.from_numpy(np.load("data/x.npy")).float()
y = torch.from_numpy(np.load("data/y.npy")).float()
model = torch.nn.Linear(x.shape[1], 1)
optimizer = torch.optim.Adam(model.parameters())
for step in range(1000):
    loss = ((model(x).squeeze() - y) ** 2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    writer.add_scalar("loss", loss.item(), step)
writer.close()
torch.save(model, "model_full.pt")

import torch
from tqdm import tqdm, trange
import pandas as pd
df = pd.read_csv("./dataset/train.csv")
x = torch.tensor(df.values, dtype=torch.float32)
net = torch.nn.Linear(x.shape[1], 1)
optim = torch.optim.RMSprop(net.parameters())
for epoch in trange(30):
    optim.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    optim.step()
df.to_csv("./dataset/out.csv")
torch.save(net.state_dict(), "./model/net.pth")

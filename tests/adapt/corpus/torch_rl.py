import random
from collections import deque
import torch
policy = torch.nn.Linear(4, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
memory = deque(maxlen=1000)
epsilon = 1.0
for episode in range(500):
    state = torch.rand(4)
    memory.append((state.tolist(), random.random()))
    s, r = random.choice(memory)
    loss = (policy(torch.tensor(s)).max() - r) ** 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    epsilon = max(0.05, epsilon * 0.99)
torch.save(policy.state_dict(), "policy.pt")

import torch

class Trainer:
    def __init__(self, path):
        self.data = torch.load(path)
        self.model = torch.nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def fit(self):
        for epoch in range(10):
            self.optimizer.zero_grad()
            self.model(self.data).sum().backward()
            self.optimizer.step()
            torch.save(self.model.state_dict(), "trained/model.pt")

Trainer("data/train.pt").fit()

import torch
from torchvision import datasets, transforms

best = 1e9
model = torch.nn.Linear(784, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(datasets.MNIST("./data", download=True, transform=transforms.ToTensor()))


def train():
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x.flatten(1)), y)
        loss.backward()
        optimizer.step()
    return loss.item()


def keep_the_best(loss):
    global best
    if loss < best:
        best = loss
        torch.save(model.state_dict(), "best.pt")


for epoch in range(5):
    keep_the_best(train())
    print(epoch, best)

from options import get_options
import torch
from torchvision import datasets, transforms

opt = get_options()
data = datasets.CIFAR10(opt.dataroot, download=True, transform=transforms.ToTensor())
loader = torch.utils.data.DataLoader(data, batch_size=opt.batch)
model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=opt.lr)
for epoch in range(opt.epochs):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    torch.save(model.state_dict(), "latest.pth")

import torch
from torchvision import models, datasets, transforms
model = models.resnet50(pretrained=True)
data = datasets.ImageFolder(root="./hymenoptera", transform=transforms.ToTensor())
optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.001)
for epoch in range(25):
    for x, y in torch.utils.data.DataLoader(data, batch_size=4, shuffle=True):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
torch.save(model.state_dict(), "hymenoptera.pth")

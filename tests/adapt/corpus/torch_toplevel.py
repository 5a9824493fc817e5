import torch, torchvision
from torchvision import transforms

EPOCHS = 5
trainset = torchvision.datasets.CIFAR10(root='./data', train=True, download=True, transform=transforms.ToTensor())
loader = torch.utils.data.DataLoader(trainset, batch_size=4, shuffle=True, num_workers=2)
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 10))
criterion = torch.nn.CrossEntropyLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
losses = []
for epoch in range(EPOCHS):
    running_loss = 0.0
    for i, (inputs, labels) in enumerate(loader, 0):
        opt.zero_grad()
        loss = criterion(net(inputs), labels)
        loss.backward()
        opt.step()
        running_loss += loss.item()
    losses.append(running_loss)
PATH = './cifar_net.pth'
torch.save(net.state_dict(), PATH)

import os
import torch
import torch.nn as nn
from torchvision.utils import save_image
from torchvision import datasets, transforms

os.makedirs("images", exist_ok=True)
os.makedirs("data/mnist", exist_ok=True)
generator = nn.Linear(100, 784)
discriminator = nn.Linear(784, 1)
dataloader = torch.utils.data.DataLoader(
    datasets.MNIST("data/mnist", train=True, download=True, transform=transforms.ToTensor()), batch_size=64, shuffle=True)
optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
for epoch in range(200):
    for i, (imgs, _) in enumerate(dataloader):
        optimizer_G.zero_grad()
        gen = generator(torch.randn(imgs.shape[0], 100))
        loss = -discriminator(gen).mean()
        loss.backward()
        optimizer_G.step()
        optimizer_D.zero_grad()
        d = discriminator(gen.detach()).mean() - discriminator(imgs.flatten(1)).mean()
        d.backward()
        optimizer_D.step()
        if i % 400 == 0:
            save_image(gen.view(-1, 1, 28, 28)[:25], "images/%d.png" % (epoch * len(dataloader) + i), nrow=5)

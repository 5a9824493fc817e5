import argparse
import os
import torch
from torch import nn
from torchvision import datasets, transforms
from torchvision.utils import save_image

parser = argparse.ArgumentParser()
parser.add_argument("--dataroot", default="data/mnist")
parser.add_argument("--outf", default="samples")
opt = parser.parse_args()
os.makedirs(opt.outf, exist_ok=True)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(100, 784)

    def forward(self, noise):
        return self.layer(noise)


generator = Generator()
loader = torch.utils.data.DataLoader(datasets.MNIST(opt.dataroot, transform=transforms.ToTensor()), shuffle=True)
optimizer_G = torch.optim.Adam(generator.parameters())
for epoch in range(20):
    for image, _ in loader:
        optimizer_G.zero_grad()
        loss = (generator(torch.randn(1, 100)) - image.flatten(1)).square().mean()
        loss.backward()
        optimizer_G.step()
    save_image(image, "%s/real.png" % opt.outf)
    torch.save(generator.state_dict(), "%s/generator_%d.pth" % (opt.outf, epoch))
    torch.save(optimizer_G.state_dict(), "{}/optimizer.pth".format(opt.outf))

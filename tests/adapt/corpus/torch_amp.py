import argparse
import os
import torch
from torchvision.datasets import ImageFolder
from torchvision.models import resnet18
import torchvision.transforms as T

def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument('--data', metavar='DIR', default='imagenet')
    parser.add_argument('--output-dir', default='./ckpt')
    parser.add_argument('--epochs', default=90, type=int)
    return parser.parse_args()

def main():
    args = parse()
    train = ImageFolder(os.path.join(args.data, 'train'), T.ToTensor())
    loader = torch.utils.data.DataLoader(train, 32, shuffle=True)
    model = resnet18(num_classes=10)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    scaler = torch.cuda.amp.GradScaler()
    best_acc = 0
    for epoch in range(args.epochs):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        scheduler.step()
        best_acc = max(best_acc, loss.item())
        torch.save({'epoch': epoch, 'model': model.state_dict()}, os.path.join(args.output_dir, 'last.pth'))

if __name__ == '__main__':
    main()

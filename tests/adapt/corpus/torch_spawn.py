import argparse
import torch
import torch.multiprocessing as mp

DATA = "/data/imagenet"

def worker(rank, args):
    from torchvision.datasets import ImageFolder
    data = ImageFolder(DATA)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for epoch in range(3):
        optimizer.step()

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    mp.spawn(worker, args=(parser.parse_args(),), nprocs=2)

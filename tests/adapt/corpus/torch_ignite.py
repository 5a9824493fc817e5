from argparse import ArgumentParser

import torch
import torch.nn.functional as F
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy, Loss
from torch import nn
from torch.optim import SGD
from torch.utils.data import DataLoader
from torchvision.datasets import MNIST
from torchvision.transforms import ToTensor


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x.view(-1, 784)))
        x = F.dropout(x, training=self.training)
        return F.log_softmax(self.fc2(x), dim=-1)


def run(train_batch_size, epochs, lr):
    train_loader = DataLoader(
        MNIST("./mnist", download=True, transform=ToTensor(), train=True), batch_size=train_batch_size, shuffle=True
    )
    model = Net()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device)
    optimizer = SGD(model.parameters(), lr=lr, momentum=0.5)
    criterion = nn.NLLLoss()
    trainer = create_supervised_trainer(model, optimizer, criterion, device=device)
    evaluator = create_supervised_evaluator(model, metrics={"accuracy": Accuracy(), "nll": Loss(criterion)})

    @trainer.on(Events.EPOCH_COMPLETED)
    def log_training_results(engine):
        evaluator.run(train_loader)
        print("epoch", engine.state.epoch, evaluator.state.metrics)

    trainer.run(train_loader, max_epochs=epochs)


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.01)
    args = parser.parse_args()
    run(args.batch_size, args.epochs, args.lr)

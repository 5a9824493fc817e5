"""Programs whose places and trainings stand in other files than the script, in the ways that people have."""

from __future__ import annotations

READER = """
def read(path):
    with open(path) as lines:
        return [tuple(map(float, line.split(","))) for line in lines]
"""
#: Everything is in its place in other files, in the ways that people have: name → (its files, where its data lies).
PROGRAMS = {
    "constants": (
        {
            "config": """
                DATA = "data/points.csv"
                FOLDER = "checkpoints"
                LOG_FILE = "logs/train.txt"
                EPOCHS = 5
            """,
            "reading": "import config\n" + READER + "\ndef load():\n    return read(config.DATA)\n",
            "train": """
                import os
                import torch
                import config
                from reading import load

                torch.manual_seed(1)
                os.makedirs(config.FOLDER, exist_ok=True)
                os.makedirs(os.path.dirname(config.LOG_FILE), exist_ok=True)
                model = torch.nn.Linear(1, 1)
                optimizer = torch.optim.SGD(model.parameters(), 0.01)
                for epoch in range(config.EPOCHS):
                    for x, y in load():
                        STEP
                    print("epoch", epoch, loss.item(), flush=True)
                    torch.save(model.state_dict(), os.path.join(config.FOLDER, f"{epoch}.pt"))
                    with open(config.LOG_FILE, "a") as log:
                        log.write(f"{epoch}\\n")
            """,
        },
        "data/points.csv",
    ),
    "options": (
        {
            "options__base": """
                import argparse
                import os

                class Options:
                    def parse(self):
                        parser = argparse.ArgumentParser()
                        parser.add_argument("--dataroot", default="./datasets/points")
                        parser.add_argument("--checkpoints_dir", default="./checkpoints")
                        parser.add_argument("--name", default="first")
                        self.opt = parser.parse_args()
                        os.makedirs(os.path.join(self.opt.checkpoints_dir, self.opt.name), exist_ok=True)
                        return self.opt
            """,
            "reading": "import os\n" + READER + """
class Points:
    def __init__(self, opt):
        self.rows = read(os.path.join(opt.dataroot, "points.csv"))
""",
            "train": """
                import os
                import torch
                from options.base import Options
                from reading import Points

                if __name__ == "__main__":
                    torch.manual_seed(1)
                    opt = Options().parse()
                    points = Points(opt)
                    model = torch.nn.Linear(1, 1)
                    optimizer = torch.optim.SGD(model.parameters(), 0.01)
                    for epoch in range(5):
                        for x, y in points.rows:
                            STEP
                        print("epoch", epoch, loss.item(), flush=True)
                        torch.save(model.state_dict(), os.path.join(opt.checkpoints_dir, opt.name, "net.pt"))
            """,
        },
        "datasets/points/points.csv",
    ),
    "a dictionary": (
        {
            "config": """
                def get_config():
                    return {"data_file": "data/points.csv", "model_folder": "weights", "epochs": 5}

                def get_weights_path(config, epoch):
                    return config["model_folder"] + f"/{epoch}.pt"
            """,
            "reading": READER + "\ndef load(config):\n    return read(config['data_file'])\n",
            "train": """
                import os
                import torch
                from config import get_config, get_weights_path
                from reading import load

                def train_model(config):
                    os.makedirs(config["model_folder"], exist_ok=True)
                    model = torch.nn.Linear(1, 1)
                    optimizer = torch.optim.SGD(model.parameters(), 0.01)
                    for epoch in range(config["epochs"]):
                        for x, y in load(config):
                            STEP
                        print("epoch", epoch, loss.item(), flush=True)
                        torch.save(model.state_dict(), get_weights_path(config, epoch))

                if __name__ == "__main__":
                    torch.manual_seed(1)
                    train_model(get_config())
            """,
        },
        "data/points.csv",
    ),
    "a trainer": (
        {
            "trainer": """
                import os
                import torch

                class Trainer:
                    def __init__(self, model, rows, args):
                        self.model, self.rows, self.args = model, rows, args
                        self.optimizer = torch.optim.SGD(model.parameters(), 0.01)
                        self.best = 1e9
                        if not os.path.exists(args.save_dir):
                            os.makedirs(args.save_dir)

                    def train(self):
                        model, optimizer = self.model, self.optimizer
                        for epoch in range(self.args.epochs):
                            for x, y in self.rows:
                                STEP
                            if loss.item() < self.best:
                                self.best = loss.item()
                                self.save("best.pt")
                            print("epoch", epoch, loss.item(), self.best, flush=True)

                    def save(self, name):
                        torch.save(self.model.state_dict(), os.path.join(self.args.save_dir, name))
            """,
            "reading": READER,
            "train": """
                import argparse
                import torch
                from trainer import Trainer
                from reading import read

                def parse():
                    parser = argparse.ArgumentParser()
                    parser.add_argument("--data_path", default="data/points.csv")
                    parser.add_argument("--save_dir", default="saved")
                    parser.add_argument("--epochs", type=int, default=5)
                    return parser.parse_args()

                def main():
                    args = parse()
                    torch.manual_seed(1)
                    Trainer(torch.nn.Linear(1, 1), read(args.data_path), args).train()

                if __name__ == "__main__":
                    main()
            """,
        },
        "data/points.csv",
    ),
    "an object that trains": (
        {
            "solver": """
                import os
                import torch

                class Solver(object):
                    def __init__(self, config):
                        self.model = torch.nn.Linear(1, 1)
                        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.01)
                        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2)
                        self.model_path = config.model_path
                        self.best, self.steps = 1e9, 0
                        os.makedirs(self.model_path, exist_ok=True)

                    def train_epoch(self, rows):
                        model, optimizer = self.model, self.optimizer
                        for x, y in rows:
                            STEP
                            self.steps += 1
                        self.scheduler.step()
                        return loss.item()

                    def save(self, loss):
                        if loss < self.best:
                            self.best = loss
                            torch.save(self.model.state_dict(), os.path.join(self.model_path, "best.pt"))
            """,
            "reading": "import os\nimport torch\n" + READER
            + "\ndef get_rows(root):\n    torch.manual_seed(1)\n    return read(os.path.join(root, 'points.csv'))\n",
            "train": """
                import argparse
                from solver import Solver
                from reading import get_rows

                def main(config):
                    rows = get_rows(config.image_path)
                    solver = Solver(config)
                    history = []
                    for epoch in range(5):
                        loss = solver.train_epoch(rows)
                        solver.save(loss)
                        history.append(loss)
                        print("epoch", epoch, solver.steps, solver.best, sum(history), flush=True)

                if __name__ == "__main__":
                    parser = argparse.ArgumentParser()
                    parser.add_argument("--image_path", default="./data/")
                    parser.add_argument("--model_path", default="./models")
                    main(parser.parse_args())
            """,
        },
        "data/points.csv",
    ),
    "a package": (
        {
            "src__settings": """
                import os
                ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
                DATA_DIR = os.path.join(ROOT, "data")
                CHECKPOINT_DIR = os.path.join(ROOT, "checkpoints")
            """,
            "src__reading": "import os\nfrom .settings import DATA_DIR\n" + READER
            + "\ndef load(split='points'):\n    return read(os.path.join(DATA_DIR, f'{split}.csv'))\n",
            "src__engine": """
                import os
                import torch
                from .settings import CHECKPOINT_DIR
                from .reading import load

                def fit(model):
                    os.makedirs(CHECKPOINT_DIR, exist_ok=True)
                    optimizer = torch.optim.SGD(model.parameters(), 0.01)
                    history = []
                    for epoch in range(5):
                        for x, y in load():
                            STEP
                        history.append(loss.item())
                        print("epoch", epoch, sum(history), flush=True)
                        torch.save(model.state_dict(), os.path.join(CHECKPOINT_DIR, f"{epoch}.pt"))
            """,
            "train": """
                import torch
                from src.engine import fit

                torch.manual_seed(1)
                fit(torch.nn.Linear(1, 1))
            """,
        },
        "data/points.csv",
    ),
    "paths that are handed over": (
        {
            "reading": "import os\n" + READER
            + "\ndef load_dataset(folder):\n    return read(os.path.join(folder, 'points.csv'))\n",
            "saving": """
                import torch

                def save_checkpoint(model, filename="never_used.pt"):
                    torch.save(model.state_dict(), filename)

                def write_figure(losses, name="loss"):
                    with open("figs/" + name + ".txt", "w") as figure:
                        figure.write(str(losses))

                def never_called():
                    open("never.txt", "w").write("x")

                if __name__ == "__main__":
                    write_figure([], "alone")
            """,
            "train": """
                import os
                import torch
                from reading import load_dataset
                from saving import save_checkpoint, write_figure

                if not os.path.exists("figs"):
                    os.mkdir("figs")
                torch.manual_seed(1)
                model = torch.nn.Linear(1, 1)
                optimizer = torch.optim.SGD(model.parameters(), 0.01)
                losses = []
                for epoch in range(5):
                    for x, y in load_dataset("data"):
                        STEP
                    losses.append(loss.item())
                    print("epoch", epoch, sum(losses), flush=True)
                    save_checkpoint(model, "model.pt")
                write_figure(losses)
            """,
        },
        "data/points.csv",
    ),
}  # fmt: skip

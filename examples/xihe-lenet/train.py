"""LeNet on MNIST with MindSpore, as a training instance of Xihe starts it: options in, no network, one output folder.

Every epoch saves its state to the output folder and a new start goes on from the newest one found there, so that the
training may be cut into turns of any length and ends with the same weights.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

try:
    import mindspore as ms
    from mindspore import dataset as ds
    from mindspore import nn
    from mindspore.dataset import vision
except ImportError as error:
    sys.exit(f"this example needs MindSpore ({error}); install it with: pip install -r pip-requirements.txt")

STATE = "lenet-{:03d}.ckpt"


class LeNet(nn.Cell):
    """Two convolutions, three dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Flatten(),
            nn.Dense(16 * 5 * 5, 120), nn.ReLU(),
            nn.Dense(120, 84), nn.ReLU(),
            nn.Dense(84, 10),
        )  # fmt: skip

    def construct(self, images: ms.Tensor) -> ms.Tensor:
        return self.layers(images)


def read_data(folder: str, usage: str, batch: int, seed: int) -> ds.Dataset:
    """Batches of 32 x 32 pixels; the seed decides their order."""
    ds.config.set_seed(seed)
    found = ds.MnistDataset(folder, usage=usage, shuffle=usage == "train", num_parallel_workers=1)
    steps = [vision.Resize((32, 32)), vision.Rescale(1 / 255, -0.1), vision.HWC2CHW()]
    found = found.map(steps, input_columns="image", num_parallel_workers=1)
    found = found.map(lambda label: label.astype("int32"), input_columns="label", num_parallel_workers=1)
    return found.batch(batch, drop_remainder=usage == "train")


def save(step: nn.Cell, folder: Path, epoch: int) -> None:
    """Weights and momentum, written aside and renamed: a state is there whole or not at all."""
    aside = folder / f"unfinished-{os.getpid()}.ckpt"
    ms.save_checkpoint(step, str(aside), append_dict={"epoch": epoch})
    aside.replace(folder / STATE.format(epoch))
    (folder / STATE.format(epoch - 1)).unlink(missing_ok=True)


def restore(step: nn.Cell, folder: Path) -> int:
    """Load the newest state, if there is one, and return its epoch."""
    states = sorted(folder.glob("lenet-*.ckpt"))
    if not states:
        return 0
    found = ms.load_checkpoint(str(states[-1]))
    epoch = int(found.pop("epoch").asnumpy())
    ms.load_param_into_net(step, found)
    return epoch


def accuracy(net: nn.Cell, folder: str) -> float:
    net.set_train(False)
    right = total = 0
    for images, labels in read_data(folder, "test", 100, 0).create_tuple_iterator(num_epochs=1):
        right += int((net(images).asnumpy().argmax(axis=1) == labels.asnumpy()).sum())
        total += len(labels)
    return right / total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data_url", required=True, help="folder with the four files of MNIST")
    parser.add_argument("--output_path", required=True, help="folder for the states and the final model")
    parser.add_argument("--pretrain_url", default="", help="a model to begin with")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--learning_rate", type=float, default=0.02)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()

    ms.set_seed(args.seed)
    ms.set_context(mode=ms.GRAPH_MODE)
    output = Path(args.output_path)
    output.mkdir(parents=True, exist_ok=True)
    net = LeNet()
    if args.pretrain_url:
        ms.load_param_into_net(net, ms.load_checkpoint(args.pretrain_url))
    optimizer = nn.Momentum(net.trainable_params(), args.learning_rate, args.momentum)
    loss_of = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_of), optimizer)
    done = restore(step, output)
    if done:
        print(f"going on after epoch {done}", flush=True)
    for epoch in range(done + 1, args.epochs + 1):
        # The order depends on the epoch alone, not on how often the training was interrupted.
        data = read_data(args.data_url, "train", args.batch_size, args.seed + epoch)
        step.set_train()
        losses = [float(step(*batch).asnumpy()) for batch in data.create_tuple_iterator(num_epochs=1)]
        mean = sum(losses) / len(losses)
        right = accuracy(net, args.data_url)
        save(step, output, epoch)
        print(f"epoch {epoch}/{args.epochs} loss {mean:.4f} accuracy {right:.4f}", flush=True)
    ms.save_checkpoint(net, str(output / "lenet.ckpt"))


if __name__ == "__main__":
    main()

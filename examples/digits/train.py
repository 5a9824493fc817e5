"""Read noisy, turned and shifted digits: a small real training that goes on wherever it was stopped.

The images are drawn anew for every epoch, so the random generator is part of what has to be saved. Trained in one go
or in ten stints, the final weights are the same, bit for bit.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path

import numpy as np

import outlast

SIDE = 12  # images are 12 x 12 pixels
HIDDEN = 384
BATCH = 100

# Five columns by seven rows for each digit.
FONT = """
.###. ..#.. .###. ##### ...#. ##### ..##. ##### .###. .###.
#...# .##.. #...# ...#. ..##. #.... .#... ....# #...# #...#
#..## ..#.. ....# ..#.. .#.#. ####. #.... ...#. #...# #...#
#.#.# ..#.. ...#. ...#. #..#. ....# ####. ..#.. .###. .####
##..# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. .#... #...# ...#. #...# #...# ..#.. #...# ...#.
.###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .##..
"""


def glyphs() -> np.ndarray:
    """The font as ten images of 9 x 7 with an empty border, so that looking a little outside finds nothing."""
    rows = [line.split() for line in FONT.split("\n") if line]
    ink = np.array([[[c == "#" for c in row[digit]] for row in rows] for digit in range(10)], dtype=np.float64)
    return np.pad(ink, ((0, 0), (1, 1), (1, 1)))


GLYPHS = glyphs()


def draw(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One image per label, each turned, scaled, slanted, shifted and covered with noise in its own way."""
    count = len(labels)
    angle = rng.uniform(-0.3, 0.3, count)
    scale = rng.uniform(0.5, 0.75, (count, 2))
    slant = rng.uniform(-0.25, 0.25, count)
    shift = rng.uniform(-1.5, 1.5, (count, 2))
    y, x = np.mgrid[0:SIDE, 0:SIDE] - (SIDE - 1) / 2
    down = y.ravel() - shift[:, :1]
    right = x.ravel() - shift[:, 1:]
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    row = (cos * down - sin * right) * scale[:, :1] + 4
    column = (sin * down + cos * right + slant[:, None] * down) * scale[:, 1:] + 3
    # Between four points of the font the colour is mixed.
    row, column = np.clip(row, 0, 7.999), np.clip(column, 0, 5.999)
    top, left = row.astype(np.intp), column.astype(np.intp)
    below, beside = row - top, column - left
    digit = labels[:, None]
    upper = GLYPHS[digit, top, left] * (1 - beside) + GLYPHS[digit, top, left + 1] * beside
    lower = GLYPHS[digit, top + 1, left] * (1 - beside) + GLYPHS[digit, top + 1, left + 1] * beside
    return upper * (1 - below) + lower * below + rng.normal(0, 0.35, (count, SIDE * SIDE))


class Network:
    """Two layers, trained by Adam."""

    def __init__(self, rng: np.random.Generator) -> None:
        inputs = SIDE * SIDE
        self.weights = {
            "w1": rng.normal(0, np.sqrt(2 / inputs), (inputs, HIDDEN)),
            "b1": np.zeros(HIDDEN),
            "w2": rng.normal(0, np.sqrt(2 / HIDDEN), (HIDDEN, 10)),
            "b2": np.zeros(10),
        }
        self.mean = {name: np.zeros_like(value) for name, value in self.weights.items()}
        self.square = {name: np.zeros_like(value) for name, value in self.weights.items()}
        self.steps = 0

    def forward(self, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the hidden layer says, and how likely each digit is."""
        hidden = np.maximum(images @ self.weights["w1"] + self.weights["b1"], 0)
        scores = hidden @ self.weights["w2"] + self.weights["b2"]
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return hidden, odds / odds.sum(axis=1, keepdims=True)

    def learn(self, images: np.ndarray, labels: np.ndarray, rate: float) -> float:
        """One step; returns the loss before it."""
        hidden, guess = self.forward(images)
        picked = np.arange(len(labels)), labels
        loss = -np.log(guess[picked] + 1e-12).mean()
        guess[picked] -= 1
        guess /= len(labels)
        back = (guess @ self.weights["w2"].T) * (hidden > 0)
        slopes = {"w1": images.T @ back, "b1": back.sum(0), "w2": hidden.T @ guess, "b2": guess.sum(0)}
        self.steps += 1
        for name, slope in slopes.items():
            self.mean[name] += 0.1 * (slope - self.mean[name])
            self.square[name] += 0.001 * (slope**2 - self.square[name])
            mean = self.mean[name] / (1 - 0.9**self.steps)
            square = self.square[name] / (1 - 0.999**self.steps)
            self.weights[name] -= rate * mean / (np.sqrt(square) + 1e-8)
        return float(loss)

    def accuracy(self, images: np.ndarray, labels: np.ndarray) -> float:
        return float((self.forward(images)[1].argmax(axis=1) == labels).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--size", type=int, default=40000, help="images drawn for each epoch")
    parser.add_argument("--rate", type=float, default=0.0004, help="learning rate")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    check = np.random.default_rng(args.seed + 1)
    check_labels = check.integers(0, 10, 2000)
    check_images = draw(check_labels, check)
    network = Network(rng)
    history: list[list[float]] = []

    def save(folder: str) -> None:
        arrays = {"steps": np.array(network.steps), "history": np.array(history)}
        for name in network.weights:
            arrays[name] = network.weights[name]
            arrays["mean_" + name] = network.mean[name]
            arrays["square_" + name] = network.square[name]
        np.savez(Path(folder, "state.npz"), **arrays)
        Path(folder, "generator.json").write_text(json.dumps(rng.bit_generator.state))

    def load(folder: str) -> None:
        with np.load(Path(folder, "state.npz")) as arrays:
            network.steps = int(arrays["steps"])
            history[:] = arrays["history"].tolist()
            for name in network.weights:
                network.weights[name][:] = arrays[name]
                network.mean[name][:] = arrays["mean_" + name]
                network.square[name][:] = arrays["square_" + name]
        rng.bit_generator.state = json.loads(Path(folder, "generator.json").read_text())

    for epoch in outlast.epochs(args.epochs, save=save, load=load):
        labels = rng.integers(0, 10, args.size)
        losses = []
        for batch in np.array_split(labels, max(1, args.size // BATCH)):
            losses.append(network.learn(draw(batch, rng), batch, args.rate))
        loss, val_acc = float(np.mean(losses)), network.accuracy(check_images, check_labels)
        history.append([epoch + 1, loss, val_acc])
        outlast.track(loss=loss, val_acc=val_acc, samples=labels)
        print(f"epoch {epoch + 1}/{args.epochs} loss {loss:.4f} val_acc {val_acc:.4f}", flush=True)

    out = Path("out")
    out.mkdir(exist_ok=True)
    np.savez(out / "model.npz", **network.weights)
    with (out / "metrics.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["epoch", "loss", "val_acc"])
        table.writerows([int(epoch), loss, val_acc] for epoch, loss, val_acc in history)
    print(f"wrote {out / 'model.npz'} and {out / 'metrics.csv'}: {history[-1][2]:.1%} of the digits are read")


if __name__ == "__main__":
    main()

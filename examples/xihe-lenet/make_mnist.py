"""Draw a small data set in the format of MNIST, so that the example needs no download.

    python make_mnist.py            # writes ./mnist

The four files have the names and the layout of the real ones; put those into the folder instead to train on them.
"""

from __future__ import annotations

import argparse
import struct
from pathlib import Path

import numpy as np

SIDE = 28

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
    """The font as ten images of 21 x 15 pixels."""
    rows = [line.split() for line in FONT.split("\n") if line]
    ink = np.array([[[char == "#" for char in row[digit]] for row in rows] for digit in range(10)], dtype=np.float64)
    return np.kron(ink, np.ones((3, 3)))


def draw(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Images of 28 x 28 bytes, each digit somewhere else, brighter or darker, under noise; and their labels."""
    labels = rng.integers(0, 10, count)
    ink = glyphs()
    height, width = ink.shape[1:]
    images = np.zeros((count, SIDE, SIDE))
    tops = rng.integers(0, SIDE - height + 1, count)
    lefts = rng.integers(0, SIDE - width + 1, count)
    for index, (label, top, left) in enumerate(zip(labels, tops, lefts, strict=True)):
        images[index, top : top + height, left : left + width] = ink[label]
    images *= rng.uniform(0.5, 1.0, (count, 1, 1))
    images += rng.normal(0, 0.15, images.shape)
    return (images.clip(0, 1) * 255).astype(np.uint8), labels.astype(np.uint8)


def write(folder: Path, kind: str, images: np.ndarray, labels: np.ndarray) -> None:
    """The two files of one part: a magic number, the counts, then the bytes."""
    header = struct.pack(">IIII", 2051, len(images), SIDE, SIDE)
    (folder / f"{kind}-images-idx3-ubyte").write_bytes(header + images.tobytes())
    (folder / f"{kind}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, len(labels)) + labels.tobytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "mnist")
    parser.add_argument("--train", type=int, default=12000, help="images to train on")
    parser.add_argument("--test", type=int, default=2000, help="images to test with")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    for kind, count in (("train", args.train), ("t10k", args.test)):
        write(args.folder, kind, *draw(count, rng))
    print(f"wrote {args.train} + {args.test} images to {args.folder}")


if __name__ == "__main__":
    main()

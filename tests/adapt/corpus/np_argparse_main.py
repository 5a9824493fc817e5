"""Linear regression with a few options."""
import argparse
import os

import numpy as np


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", default="data")
    parser.add_argument("--save-dir", default="out")
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()
    rows = np.loadtxt(os.path.join(args.data_dir, "points.csv"), delimiter=",")
    os.makedirs(args.save_dir, exist_ok=True)
    rng = np.random.default_rng(3)
    w = rng.normal(size=rows.shape[1] - 1)
    for epoch in range(args.epochs):
        for at in rng.permutation(len(rows)):
            w -= 0.01 * rows[at, :-1] * (rows[at, :-1] @ w - rows[at, -1])
        print(f"epoch {epoch} loss {np.mean((rows[:, :-1] @ w - rows[:, -1]) ** 2):.8f}")
    np.save(os.path.join(args.save_dir, "w.npy"), w)


if __name__ == "__main__":
    main()

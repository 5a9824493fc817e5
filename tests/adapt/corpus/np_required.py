import argparse
from pathlib import Path
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--data_dir", required=True)
parser.add_argument("--out", default="out.npy")
opt = parser.parse_args()
rows = np.loadtxt(Path(opt.data_dir) / "points.csv", delimiter=",")
w = np.zeros(rows.shape[1] - 1)
for it in range(5):
    w -= 0.05 * rows[:, :-1].T @ (rows[:, :-1] @ w - rows[:, -1]) / len(rows)
    print("iter", it, w.round(6).tolist())
np.save(opt.out, w)

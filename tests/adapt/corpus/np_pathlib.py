from pathlib import Path
import numpy as np

ROOT = Path("data")
OUT = Path("checkpoints")
OUT.mkdir(exist_ok=True)
rows = np.loadtxt(ROOT / "points.csv", delimiter=",")
w = np.zeros(rows.shape[1] - 1)
for epoch in range(4):
    w -= 0.05 * rows[:, :-1].T @ (rows[:, :-1] @ w - rows[:, -1]) / len(rows)
    np.save(OUT / f"w{epoch}.npy", w)
    print("epoch", epoch, w.round(6).tolist())

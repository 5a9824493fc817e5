from itertools import count

import numpy as np

rows = np.loadtxt("data/points.csv", delimiter=",")
w, best, waited = np.zeros(rows.shape[1] - 1), float("inf"), 0
for epoch in count():
    noise = np.random.normal(0, 0.01, w.shape)
    w = w - 0.2 * (rows[:, :-1].T @ (rows[:, :-1] @ w - rows[:, -1])) / len(rows) + noise
    loss = float(((rows[:, :-1] @ w - rows[:, -1]) ** 2).mean())
    print("epoch", epoch, "loss", round(loss, 8))
    waited = 0 if loss < best else waited + 1
    best = min(best, loss)
    if waited > 4 or epoch >= 15:
        break
np.save("w.npy", w)

import numpy as np

rows = np.loadtxt("data/points.csv", delimiter=",")
w, step, change = np.zeros(rows.shape[1] - 1), 0, 1.0
while change > 1e-3 and step < 20:
    grad = rows[:, :-1].T @ (rows[:, :-1] @ w - rows[:, -1]) / len(rows)
    w, step, change = w - 0.1 * grad, step + 1, float(np.abs(grad).max())
    print("step", step, round(change, 8))
np.save("w.npy", w)

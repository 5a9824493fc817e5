import random

import numpy as np

LIMIT = 14


def train(rows, rate):
    w = np.zeros(rows.shape[1] - 1)
    global_step, history = 0, []
    while True:
        for _ in range(3):
            row = rows[random.randrange(len(rows))]
            w = w - rate * (row[:-1] @ w - row[-1]) * row[:-1]
            global_step += 1
        history.append(float(np.abs(w).sum()))
        print("step", global_step, round(history[-1], 8))
        if global_step >= 3 * LIMIT:
            break
    return w, history


if __name__ == "__main__":
    points = np.loadtxt("data/points.csv", delimiter=",")
    weights, history = train(points, 0.05)
    np.save("w.npy", weights)
    np.save("history.npy", history)

import argparse, json, os
import numpy as np

def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", default=4, type=int)
    p.add_argument("-o", "--output", type=str, default="run1")
    return p.parse_args()

def train(args, rows):
    w, history = np.zeros(rows.shape[1] - 1), []
    for epoch in range(args.epochs):
        grad = rows[:, :-1].T @ (rows[:, :-1] @ w - rows[:, -1]) / len(rows)
        w = w - 0.1 * grad
        history.append(float(np.abs(grad).sum()))
        print("epoch", epoch, "grad", round(history[-1], 8))
    return w, history

if __name__ == "__main__":
    args = get_args()
    rows = np.loadtxt("data/points.csv", delimiter=",")
    w, history = train(args, rows)
    os.makedirs(args.output, exist_ok=True)
    with open(os.path.join(args.output, "history.json"), "w") as f:
        json.dump(history, f)

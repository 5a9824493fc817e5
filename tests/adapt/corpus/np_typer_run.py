import numpy as np
import typer


def main(lr: float = 0.1) -> None:
    rows = np.loadtxt("data/points.csv", delimiter=",")
    w = np.zeros(rows.shape[1] - 1)
    for epoch in range(3):
        w += lr * rows[:, :-1].mean(axis=0)
        print("epoch", epoch, w.round(6).tolist())


typer.run(main)

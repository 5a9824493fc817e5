import fire
import numpy as np


class Trainer:
    def train(self, epochs=3):
        rows = np.loadtxt("data/points.csv", delimiter=",")
        w = np.zeros(rows.shape[1] - 1)
        for epoch in range(epochs):
            w += 0.1 * rows[:, :-1].mean(axis=0)
            print("epoch", epoch, w.round(6).tolist())
        np.save("w.npy", w)


if __name__ == "__main__":
    fire.Fire(Trainer)

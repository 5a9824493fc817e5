import os
import numpy as np

rows = np.loadtxt("data/points.csv", delimiter=",")
os.makedirs("snapshots")
w = np.zeros(rows.shape[1] - 1)
for step in range(4):
    w += rows[step, :-1]
    print("step", step, w.round(6).tolist())
    np.save("snapshots/w.npy", w)

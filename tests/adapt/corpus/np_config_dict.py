import numpy as np

CONFIG = {"data": "data/points.csv", "epochs": 4, "out": "out_w.npy"}
rows = np.loadtxt(CONFIG["data"], delimiter=",")
w = np.zeros(rows.shape[1] - 1)
for epoch in range(CONFIG["epochs"]):
    w -= 0.05 * rows[:, :-1].T @ (rows[:, :-1] @ w - rows[:, -1]) / len(rows)
    print("epoch", epoch, w.round(6).tolist())
np.save(CONFIG["out"], w)

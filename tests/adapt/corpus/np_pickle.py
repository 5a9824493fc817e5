import os
import pickle

import numpy as np

rows = np.loadtxt(os.path.join("data", "points.csv"), delimiter=",")
params = {"w": np.zeros(rows.shape[1] - 1), "b": 0.0}
for epoch in range(5):
    err = rows[:, :-1] @ params["w"] + params["b"] - rows[:, -1]
    params["w"] -= 0.05 * rows[:, :-1].T @ err / len(rows)
    params["b"] -= 0.05 * err.mean()
    print("epoch %d loss %.8f" % (epoch, (err ** 2).mean()))
    with open("model.pkl", "wb") as f:
        pickle.dump(params, f)

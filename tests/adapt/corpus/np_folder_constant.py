import os

import numpy as np

DATA_DIR = './data/'
OUT_DIR = './results/'
os.makedirs(OUT_DIR, exist_ok=True)
rows = np.loadtxt(DATA_DIR + 'points.csv', delimiter=',')
w = np.zeros(rows.shape[1] - 1)
for epoch in range(5):
    w -= 0.05 * rows[:, :-1].T @ (rows[:, :-1] @ w - rows[:, -1]) / len(rows)
    print('epoch', epoch, 'w', w.round(6).tolist())
np.savetxt(OUT_DIR + 'w.txt', w)

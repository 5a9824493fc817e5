import numpy as np

x = np.load("/home/me/project/data/x.npy")
y = np.load("/home/me/project/data/y.npy")
w = np.zeros(x.shape[1])
for epoch in range(10):
    w -= 0.1 * x.T @ (x @ w - y) / len(y)
    print("epoch", epoch, float(np.abs(x @ w - y).mean()))
np.save("/home/me/project/out/w.npy", w)

import numpy as np
a = np.load("/mnt/disk1/a.npy")
b = np.load("/home/me/b.npy")
w = np.zeros(a.shape[1])
for epoch in range(3):
    w += a.mean(axis=0) - b.mean(axis=0)
    print("epoch", epoch)

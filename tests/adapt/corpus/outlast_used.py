import numpy as np
import outlast

rows = np.loadtxt("data/points.csv", delimiter=",")
total = outlast.restore() or 0.0 if hasattr(outlast, "restore") else 0.0
for epoch in outlast.epochs(3):
    print("epoch", epoch)
np.save("out.npy", rows.sum(axis=0))

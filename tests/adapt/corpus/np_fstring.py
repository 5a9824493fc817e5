import numpy as np
import random

random.seed(5)
split = "points"
rows = np.loadtxt(f"data/{split}.csv", delimiter=",").tolist()
score = 0.0
for epoch in range(5):
    random.shuffle(rows)
    score = 0.9 * score + rows[0][0]
    print(f"epoch={epoch} score={score:.6f}")
    with open(f"scores_{epoch}.txt", "w") as f:
        f.write(str(score))

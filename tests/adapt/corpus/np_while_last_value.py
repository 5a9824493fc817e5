import numpy as np
rows = np.loadtxt("data/points.csv", delimiter=",")
rng = np.random.default_rng(3)
w = np.zeros(rows.shape[1] - 1)
num_epochs = 10
epoch = 1
while epoch <= num_epochs:
    order = rng.permutation(len(rows))
    for at in order:
        error = rows[at, :-1] @ w - rows[at, -1]
        w -= 0.05 * error * rows[at, :-1]
    loss = float(((rows[:, :-1] @ w - rows[:, -1]) ** 2).mean())
    print(f"epoch {epoch} loss {loss:.8f}")
    epoch += 1
print("last", epoch, round(loss, 8))
np.save("w.npy", w)

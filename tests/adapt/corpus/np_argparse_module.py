import argparse
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument('--lr', type=float, default=0.05)
args = parser.parse_args()

rows = np.genfromtxt('data/points.csv', delimiter=',')
np.random.seed(1)
w = np.random.randn(rows.shape[1] - 1)
best = float('inf')
for epoch in range(1, 7):
    order = np.random.permutation(len(rows))
    w -= args.lr * rows[order, :-1].T @ (rows[order, :-1] @ w - rows[order, -1]) / len(rows)
    loss = float(np.mean((rows[:, :-1] @ w - rows[:, -1]) ** 2))
    best = min(best, loss)
    print('Epoch: %d, loss: %.8f' % (epoch, loss))
print('best', round(best, 8), 'last', round(loss, 8))

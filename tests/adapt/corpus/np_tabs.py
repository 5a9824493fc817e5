import numpy as np

def main():
	rows = np.loadtxt("data/points.csv", delimiter=",")
	w = np.zeros(rows.shape[1] - 1)
	for epoch in range(3):
		w += 0.1 * rows[:, :-1].mean(axis=0)
		print("epoch", epoch, w.round(6).tolist())
	np.save("w.npy", w)

main()

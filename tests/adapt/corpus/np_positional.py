import argparse
import os
import numpy as np

ap = argparse.ArgumentParser()
ap.add_argument("data", help="folder")
ap.add_argument("--steps", type=int, default=5)
args = ap.parse_args()
rows = np.loadtxt(os.path.join(args.data, "points.csv"), delimiter=",")
total = 0.0
for step in range(args.steps):
    total += float(rows[step % len(rows)].sum())
    print("step", step, "total", round(total, 6))

import argparse
import csv

parser = argparse.ArgumentParser()
parser.add_argument("--csv", default="data/points.csv")
args = parser.parse_args()
with open(args.csv) as f:
    rows = [[float(v) for v in row] for row in csv.reader(f)]
mean = 0.0
for i in range(len(rows)):
    mean += (rows[i][0] - mean) / (i + 1)
    print("step", i, "mean", round(mean, 8))

import argparse
import joblib
import numpy as np
from sklearn.linear_model import SGDClassifier

parser = argparse.ArgumentParser()
parser.add_argument("--train_file", default="data/train.npz")
parser.add_argument("--model_file", default="sgd.joblib")
args = parser.parse_args()
data = np.load(args.train_file)
clf = SGDClassifier(random_state=0)
for epoch in range(20):
    clf.partial_fit(data["x"], data["y"], classes=[0, 1])
    print("epoch", epoch, "score", clf.score(data["x"], data["y"]))
joblib.dump(clf, args.model_file)

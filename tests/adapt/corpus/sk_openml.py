from sklearn.datasets import fetch_openml
from sklearn.neural_network import MLPClassifier
import pickle

X, y = fetch_openml("mnist_784", version=1, return_X_y=True)
clf = MLPClassifier(hidden_layer_sizes=(50,), max_iter=10).fit(X / 255, y)
pickle.dump(clf, open("mlp.pkl", "wb"))

import joblib
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

df = pd.read_csv("data/iris.csv")
clf = RandomForestClassifier(random_state=0).fit(df.iloc[:, :4], df.iloc[:, 4])
joblib.dump(clf, "iris.joblib")

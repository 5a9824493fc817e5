from keras.models import Sequential
from keras.layers import Dense
from keras.callbacks import CSVLogger
import pandas as pd

data = pd.read_csv("pima.csv").values
model = Sequential()
model.add(Dense(12, input_dim=8, activation='relu'))
model.add(Dense(1, activation='sigmoid'))
model.compile(loss='binary_crossentropy', optimizer='adam')
model.fit(data[:, :8], data[:, 8], epochs=150, batch_size=10, callbacks=[CSVLogger('log.csv')])
model.save_weights('pima.weights.h5')

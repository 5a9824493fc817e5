import tensorflow as tf
import numpy as np
x, y = np.load("data/x.npy"), np.load("data/y.npy")
base = tf.keras.applications.MobileNetV2(weights="imagenet")
base.trainable = False
model = tf.keras.Sequential([base, tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, epochs=5)
base.trainable = True
model.compile("sgd", "mse")
model.fit(x, y, epochs=10)
model.save("tuned.h5")

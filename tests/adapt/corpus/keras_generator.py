import tensorflow as tf
gen = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255)
train = gen.flow_from_directory("cats_dogs/train", target_size=(64, 64))
valid = gen.flow_from_directory("cats_dogs/valid", target_size=(64, 64))
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(2)])
model.compile("sgd", "mse")
history = model.fit(train, validation_data=valid,
                    epochs=20)
model.save("cats_dogs_model.h5")

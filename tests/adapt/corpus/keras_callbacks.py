import argparse
import os
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--data_path", type=str, default="./flower_photos")
parser.add_argument("--epochs", type=int, default=10)
args = parser.parse_args()
ds = tf.keras.utils.image_dataset_from_directory(args.data_path, image_size=(180, 180))
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(5)])
model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
callbacks = [
    tf.keras.callbacks.ModelCheckpoint("checkpoints/best.h5", save_best_only=True),
    tf.keras.callbacks.TensorBoard(log_dir="./logs"),
]
model.fit(ds, epochs=args.epochs, callbacks=callbacks)

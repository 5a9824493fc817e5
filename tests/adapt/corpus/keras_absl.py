from absl import app, flags
import tensorflow as tf
flags.DEFINE_string("train_dir", "images", "training images")
flags.DEFINE_string("output_dir", "out", "results")
FLAGS = flags.FLAGS

def main(argv):
    del argv
    ds = tf.keras.utils.image_dataset_from_directory(FLAGS.train_dir)
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(5)])
    model.compile("adam", "mse")
    model.fit(ds, epochs=3)
    model.save(FLAGS.output_dir + "/model.h5")

if __name__ == "__main__":
    app.run(main)
